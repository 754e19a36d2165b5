"""What a script gives back to the notebook."""

from __future__ import annotations

from textwrap import dedent

import pytest

import nbddp
from nbddp.watch_points import Watch
from tests.analysis.cells import DATA, IMPORTS, TRAINING, notebook

CHOICE = """
if name == "wide":
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2))
elif name:
    model = nn.Linear(8, 2)
else:
    print("unknown")
"""
FUNCTION = f"""
def train(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{TRAINING.replace(chr(10), chr(10) + "    ")}
"""


def delivered(*cells: str) -> Watch:
    points = nbddp.export(notebook(IMPORTS, DATA, FUNCTION, *cells)).watch
    return next((point.watch for point in points if point.watch.kind == "result"), Watch("result"))


def test_a_model_of_one_of_several_branches_comes_back_where_the_training_reads_it():
    assert delivered("name = input()", CHOICE + "train(model)").state == (("model", "model"),)


@pytest.mark.parametrize("call", ["if name:\n    train(model)", "name and train(model)"])
def test_a_model_that_may_not_be_there_comes_back_by_its_name_only(call):
    """No expression for it can be evaluated."""
    found = delivered("name = input()", CHOICE + call)
    assert "model" not in dict(found.state)
    assert "model" in found.names


def test_optimizers_of_a_dictionary_that_is_written_out_come_back_by_their_places():
    steps = "[o.zero_grad() for o in optimizers.values()]\n        loss.backward()\n        optimizers['a'].step()"
    training = TRAINING[: TRAINING.index("optimizer")] + f"{steps}\n        optimizers['b'].step()\n"
    made = "a, b = (torch.optim.SGD(p, lr=0.1) for p in ([model.weight], [model.bias]))"
    wanted = {'optimizers["a"]', 'optimizers["b"]'}
    model = "model = nn.Linear(8, 2)"
    one, other = (f"torch.optim.SGD([model.{name}], lr=0.1)" for name in ("weight", "bias"))
    found = delivered(model, f"optimizers = {{'a': {one}, 'b': {other}}}", training)
    assert {text for _, text in found.state} == {"model", *wanted}
    assert not wanted & dict(delivered(model, made, "optimizers = dict(a=a, b=b)", training).state).keys()


def test_what_a_later_cell_reads_of_the_steps_comes_back_combined():
    steps = dedent(TRAINING.partition("range(3):\n")[2]) + "    losses.append(loss.item())\n    seen += len(x)\n"
    training = f"losses, seen = [], 0\n{steps}"
    model = "model = nn.Linear(8, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    assert {"losses", "seen"} <= {*delivered(model, training, "print(losses, seen)").names}
    unread = delivered(model, training, "print(model)")
    assert "losses" in unread.means  # which the run combines, and the script has no line of
    assert "seen" not in unread.names


def test_lists_that_the_method_of_an_object_has_made_come_back():
    body = TRAINING.replace("\n", "\n        ").replace(
        "optimizer.step()", "optimizer.step()\n            log.append(epoch)"
    )
    trainer = f"class Trainer:\n    def fit(self):\n        log = []{body}\n        return log\n"
    model = "model = nn.Linear(8, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    assert "log" in delivered(model, trainer, "trainer = Trainer()", "log = trainer.fit()", "print(log)").names
