"""Prints between the statements that are kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nbddp.analysis.slicing.kept_prints import with_prints
from tests.analysis.cells import BEFORE, plan
from tests.analysis.slicing.test_slice import LOOP, TRAINING, kept


@pytest.mark.parametrize(
    "line",
    [
        "print(model)",
        'print(len(train_set), "samples", len(train_loader))',
        'print(f"{model.in_features=} {3 + 4:5.1f}", sep="; ")',
        'print("parameters", sum(p.numel() for p in model.parameters() if p.requires_grad))',
        'print("%d of %s" % (model.out_features, optimizer))',
    ],
)
def test_what_is_kept_is_printed(line):
    assert kept(line, TRAINING) == [line, LOOP]


@pytest.mark.parametrize(
    "line",
    [
        'print("training starts")',
        "print(torch.__version__)",
        "print(train_set[0])",  # may draw
        "print(next(iter(train_loader)))",
        "print(model.weight.std())",
        "print(train_loader.batch_size, len(train_loader.sampler))",  # a rank's
        "print(sorted(train_set))",
        "display(model)",
        "print([x for x, _ in train_loader])",
    ],
)
def test_what_costs_or_draws_or_shows_nothing_of_it_is_left_out(line):
    assert line not in kept(line, TRAINING)


def test_a_print_keeps_nothing_else():
    assert kept("spare = 1\nprint(spare, model)", TRAINING) == [LOOP]
    assert kept("sizes = []\nsizes.append(1)\nprint(sizes)", TRAINING) == [LOOP]


def test_gradients_that_are_not_computed_are_not_shown():
    """No name says that `w.grad` comes of the second line, which is left out."""
    made, used = "w = torch.rand(1, requires_grad=True)", "model.bias.data.add_(w.detach())"
    cell = f"{made}\n(3 * w).backward()\nprint(w.grad)\nprint(w.requires_grad)\n{used}"
    assert kept(cell, TRAINING) == [made, "print(w.requires_grad)", used, LOOP]


def test_what_a_name_stands_for_at_the_print():
    """Another value than that which is kept."""
    cell = "rate = 0.1\nprint(rate)\nrate = 0.2\nprint(rate)\noptimizer.lr = rate"
    assert kept(cell, TRAINING) == ["rate = 0.2", "print(rate)", "optimizer.lr = rate", LOOP]


def test_a_method_of_the_notebook_may_do_anything():
    sized = "class Sized(nn.Linear):\n    def size(self):\n        return self(torch.randn(1, 8))\nmodel = Sized(8, 2)"
    assert "print(model.size())" not in kept(sized, "print(model.size())", TRAINING)


def test_a_training_cell_of_which_nothing_is_kept():
    made = plan("print(3)", *BEFORE, TRAINING)
    nothing = replace(made.slice, kept=(), dropped={0: "not needed"})
    assert with_prints(made.flow, nothing) == nothing
