"""Which cell trains."""

from __future__ import annotations

import pytest

from nbddp.analysis.training.training_cell import choose_training_cell
from nbddp.analysis.training.training_statements import training_statements
from nbddp.diagnostics import CannotExport
from nbddp.options import Options
from tests.analysis.cells import BEFORE, TRAINING, flow


def chosen(*cells: str, train: int | None = None) -> int:
    found = flow(*cells)
    return choose_training_cell(found, training_statements(found), Options(train=train))


def refusal(*cells: str, train: int | None = None) -> CannotExport:
    with pytest.raises(CannotExport) as caught:
        chosen(*cells, train=train)
    return caught.value


def test_the_only_one_that_trains():
    assert chosen(*BEFORE, TRAINING, "print(loss)") == 4


def test_a_loop_in_a_function_is_found_where_it_is_called():
    function = "def fit(n):\n" + "".join(f"    {line}\n" for line in TRAINING.strip().split("\n"))
    assert chosen(*BEFORE, function, "fit(3)") == 5


def test_a_loop_in_a_method_is_found_where_it_is_called():
    lines = "".join(f"        {line}\n" for line in TRAINING.strip().split("\n"))
    assert chosen(*BEFORE, f"class Trainer:\n    def fit(self):\n{lines}", "Trainer().fit()") == 5


MOVES = """
for _ in range(60):
    images = images - 0.1 * torch.autograd.grad(model(images).sum(), images)[0]
"""


def test_a_sample_that_is_moved_along_a_gradient_is_no_training():
    assert chosen(*BEFORE, TRAINING, "images = torch.rand(8, 4, requires_grad=True)" + MOVES) == 4


def test_gradients_that_are_asked_for_train_where_nothing_else_does():
    by_hand = "for _ in range(9):\n    w = w - 0.1 * torch.autograd.grad(loss(w), w)[0]"
    assert chosen("import torch\nw = torch.zeros(3, requires_grad=True)", by_hand) == 2


def test_a_loop_around_a_step_that_is_a_function():
    step = "def step(x, y):\n    F.cross_entropy(model(x), y).backward()\n    optimizer.step()"
    assert chosen(*BEFORE, step, "for x, y in train_loader:\n    step(x, y)") == 5


INNER = "        F.cross_entropy(model(x), y).backward()\n        optimizer.step()"
STEP = "    F.cross_entropy(model(x), y).backward()\n    optimizer.step()"
LOOP = "for x, y in train_loader:\n    run(x, y)"


@pytest.mark.parametrize(
    "cell",
    [
        f"def step(x, y):\n{STEP}\nrun = step",
        f"def step(n, x, y):\n{STEP}\nrun = partial(step, 3)",
        f"class Step:\n    def __call__(self, x, y):\n{INNER}\nrun = Step()",
        f"def make():\n    def step(x, y):\n{INNER}\n    return step\nrun = make()",
        f"def step(x, y):\n{STEP}\ndef timed(f):\n    return lambda *a: f(*a)\nrun = timed(step)",
        f"def step(x, y):\n{STEP}\ntable = {{'train': step}}\nrun = table.get('train')",
    ],
    ids=["alias", "partial", "__call__", "made by a function", "wrapped by a function", "of a table"],
)
def test_a_step_by_another_name_is_followed_where_it_is_called(cell):
    assert chosen(*BEFORE, cell, LOOP) == 5


HAND = "for x, y in train_loader:\n    F.cross_entropy(model(x), y).backward()\n    with torch.no_grad():\n        "
EACH = "for p in model.parameters():\n            "


@pytest.mark.parametrize(
    "step",
    [
        "w -= 0.1 * w.grad",
        f"{EACH}p.data = p.data - 0.1 * p.grad",
        f"{EACH}p.add_(p.grad, alpha=-0.1)",
        "update(model, [p.grad for p in model.parameters()])",
        "w.data -= 0.1 * w.grad.item()",
        "w.data = w.data - 0.1 * w.grad.numpy()",
        "grads.append(w.grad)",
        "moved = {n: p - 0.1 * p.grad for n, p in model.named_parameters()}",
    ],
)
def test_a_step_by_hand_trains(step):
    assert chosen(*BEFORE, HAND + step) == 4


@pytest.mark.parametrize(
    "look",
    [
        f"{EACH}norms.append(p.grad.norm().item())",
        f"{EACH}total += p.grad.data.norm(2).item() ** 2",
        "norms = [p.grad.norm() for p in model.parameters()]",
        "print(model.fc1.weight.grad)",
        f"{EACH}if p.grad is None:\n                print('unused')",
        f"{EACH}p.grad.zero_()",
    ],
)
def test_gradients_that_are_looked_at_train_nothing(look):
    assert chosen(*BEFORE, TRAINING, HAND + look) == 4


def test_what_a_training_has_returned_is_no_training():
    function = "def fit(n):\n" + "".join(f"    {line}\n" for line in TRAINING.strip().split("\n")) + "    return model"
    assert chosen(*BEFORE, function, "best = fit(3)", "for x, y in train_loader:\n    print(best(x))") == 5


def test_a_definition_alone_trains_nothing():
    function = "def fit():\n" + "".join(f"    {line}\n" for line in TRAINING.strip().split("\n"))
    assert not training_statements(flow(*BEFORE, function))


def test_a_mark_decides():
    assert chosen(*BEFORE, TRAINING, "%%ddp_train\n" + TRAINING) == 5


def test_the_option_decides():
    assert chosen(*BEFORE, TRAINING, TRAINING, train=5) == 5


def test_several_are_all_named():
    found = refusal(*BEFORE, TRAINING, "", TRAINING).diagnostics
    assert [d.cell for d in found] == [4, 6]
    assert all("2 cells train" in d.message for d in found)
    assert "--train 4" in found[0].help


def test_two_marks():
    assert [d.cell for d in refusal(*BEFORE, "%%ddp_train\n" + TRAINING, "%%ddp_train\n" + TRAINING).diagnostics] == [
        4,
        5,
    ]


def test_none():
    (found,) = refusal(*BEFORE).diagnostics
    assert "no cell trains" in found.message


def test_a_number_that_is_no_code_cell():
    (found,) = refusal(*BEFORE, TRAINING, train=9).diagnostics
    assert found.help == "code cells: 1, 2, 3, 4"


def test_the_cell_that_trains_is_broken():
    (found,) = refusal(*BEFORE, TRAINING.replace("range(3)", "range(3")).diagnostics
    assert (found.rule, found.cell) == ("syntax", 4)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("from transformers import Trainer", "Hugging Face"),
        ("import lightning as L", "Lightning"),
        ("from fastai.vision.all import *", "fastai"),
    ],
)
def test_frameworks_are_named(line, name):
    (found,) = refusal(line, "x = 1").diagnostics
    assert found.rule == "framework"
    assert name in found.message


@pytest.mark.parametrize("cell", ["%%ddp_train", "%%ddp_train --nproc 2\n\n", "%%dp_train\n# soon", "#| ddp: train"])
def test_a_marked_cell_that_is_empty_is_one_sentence(cell):
    (found,) = refusal(*BEFORE, cell).diagnostics
    assert (found.level, found.cell, found.line) == ("error", 4, 1)
    assert found.message == "the training cell is empty: write the loop that trains into it"


def test_an_empty_cell_that_is_asked_for():
    assert refusal(*BEFORE, "", train=4).diagnostics[0].message.startswith("the training cell is empty")


def test_a_cell_that_is_asked_for_and_marked_to_be_left_out():
    (found,) = refusal(*BEFORE, f"#| ddp: skip\n{TRAINING}", train=4).diagnostics
    assert found.message == "the training cell is marked to be left out"
