"""Evaluations whose batches can be dealt out, and those that each rank has to run whole."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from tests.analysis.cells import BEFORE, TRAINING, evaluation, plan

HEADER = "for x, y in test_loader"
COUNT = ("n = 0", "n += (model(x).argmax(1) == y).sum().item()", "print(n)")


def evaluated(cell: str, *more: str) -> tuple[bool, Plan]:
    made = plan(*BEFORE, *more, cell)
    assert made.roles.evaluation_loops
    return not made.assumed.whole, made


def asleep(cell: str) -> str:
    return cell.replace("with torch.no_grad", "model.eval()\n    with torch.no_grad")


@pytest.mark.parametrize(
    ("header", "line"),
    [
        (HEADER, COUNT[1]),
        ("for i, (x, y) in enumerate(test_loader)", COUNT[1]),
        (HEADER, "n += len(x) if epoch else 0"),
        ("for x, y in tqdm(test_loader)", COUNT[1]),
    ],
)
def test_counts_are_dealt_out(header, line):
    cell = asleep(evaluation("n = 0", line, "print(n)").replace(HEADER, header))
    assert evaluated(cell, "from tqdm import tqdm")[0]


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("for i, (x, y) in enumerate(test_loader)", "n += i"),
        ("for x, y in islice(test_loader, 2)", COUNT[1]),
        ("for (x, y), _ in zip(test_loader, range(2))", COUNT[1]),
        (HEADER, f"{COUNT[1]}\nif n > 5:\n    break"),
        (HEADER, f"{COUNT[1]}\nprint(n)"),
        (HEADER, f"{COUNT[1]}\ntorch.save(x, 'x.pt')"),
        (HEADER, f"model.eval()\n{COUNT[1]}"),
        (HEADER, f"{COUNT[1]}\nfor a, b in train_loader:\n    pass"),
        (HEADER, "n += (model(x) + last).sum().item()\nlast = x.mean()"),
        (HEADER, f"{COUNT[1]}\nseen.size = len(x)"),
    ],
)
def test_others_are_run_whole(header, line):
    before = "from itertools import islice\nlast = 0.0\n\nclass Seen:\n    size = 0\n\nseen = Seen()\n"
    assert not evaluated(asleep(evaluation("n = 0", line, "print(n)").replace(HEADER, header)), before)[0]


def test_with_gradients_on_the_ranks_would_meet_in_the_forward():
    cell = asleep(evaluation(*COUNT)).replace("with torch.no_grad():", "if True:")
    assert not evaluated(cell)[0]


@pytest.mark.parametrize(("layer", "dealt"), [("BatchNorm1d(8)", False), ("LayerNorm(8)", True)])
def test_a_model_in_training_mode_may_count_what_it_sees(layer, dealt):
    net = f"model = nn.Sequential(nn.{layer}, nn.Linear(8, 2))\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    assert evaluated(evaluation(*COUNT), net)[0] is dealt


@pytest.mark.parametrize(("line", "dealt"), [("self.h = self.h + x.mean()", False), ("self.h = x.mean()", True)])
def test_a_model_that_keeps_something_for_the_next_batch(line, dealt):
    net = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 2)
        self.h = 0.0

    def forward(self, x):
        {line}
        return self.inner(x)

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
    assert evaluated(asleep(evaluation(*COUNT)), net)[0] is dealt


def test_a_loop_over_a_share_that_trains_is_none_of_them():
    assert not plan(*BEFORE, TRAINING).assumed.whole


NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.BatchNorm1d(8)
net = Net()"""


def test_a_part_of_a_model_sleeps_with_it():
    cell = evaluation("n = 0", "n += net.body(x).sum().item()", "print(n)")
    assert not evaluated(cell, NET)[0]
    assert evaluated(cell.replace("with torch.no_grad", "net.eval()\n    with torch.no_grad"), NET)[0]


@pytest.mark.parametrize(
    ("header", "dealt"),
    [
        (HEADER, True),
        (f"for i, word in enumerate(words):\n            pad = i\n        {HEADER}", True),
        ("for pad, (x, y) in enumerate(test_loader)", False),
        ("batches = enumerate(test_loader)\n        for pad, (x, y) in batches", False),
    ],
)
def test_a_number_that_an_earlier_loop_has_counted(header, dealt):
    words = "words = ['<pad>', 'a']\npad = {word: i for i, word in enumerate(words)}['<pad>']\n"
    cell = asleep(evaluation("n = 0", "n += (y != pad).sum().item()", "print(n)").replace(HEADER, header))
    assert evaluated(cell, words)[0] is dealt


@pytest.mark.parametrize(
    ("header", "dealt"),
    [
        ("for x, y in tqdm(data, total=len(data))", True),
        ("for (x, y), _ in zip(data, test_loader)", False),
    ],
)
def test_one_loader_that_is_named_twice_is_not_two(header, dealt):
    """By a function that is called with either loader."""
    lines = f"model.eval()\nn = 0\nwith torch.no_grad():\n    {header}:\n        {COUNT[1]}\nreturn n".replace(
        "\n", "\n    "
    )
    calls = "for epoch in range(3):\n    print(count(train_loader), count(test_loader))\n"
    function = f"from tqdm import tqdm\ndef count(data):\n    {lines}"
    assert evaluated(TRAINING + calls, function)[0] is dealt
