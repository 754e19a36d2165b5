"""What numbers of typical training code stand for on one rank, and how they are put together behind the loop."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values.domain import Extent
from nbddp.analysis.values.facts import Reduction
from tests.analysis.cells import BEFORE, batch, evaluation, extent, nodes, plan


def reductions(cell: str, *more: str) -> dict[str, str]:
    """Name and how it is put together, of all loops."""
    found: list[Reduction] = list(plan(*BEFORE, *more, cell).facts.reductions.values())
    return {r.name: r.how for r in found}


@pytest.mark.parametrize(
    ("lines", "source", "expected"),
    [
        (["n = x.size(0)"], "x.size(0)", Extent.SUM),
        (["n = len(x)"], "len(x)", Extent.SUM),
        (["n = x.shape[0]"], "x.shape[0]", Extent.SUM),
        (["n = x.size(1)"], "x.size(1)", Extent.UNIFORM),
        (["n = loss.item()"], "loss.item()", Extent.MEAN),
        (["n = loss.item() * x.size(0)"], "loss.item() * x.size(0)", Extent.SUM),
        (["n = F.mse_loss(x, y, reduction='sum')"], "F.mse_loss(x, y, reduction='sum')", Extent.SUM),
        (["n = nn.MSELoss()(x, y)"], "nn.MSELoss()(x, y)", Extent.MEAN),
        (["n = model(x).argmax(1)"], "model(x).argmax(1)", Extent.SAMPLES),
        (["n = (y == model(x)).sum().item()"], "(y == model(x)).sum().item()", Extent.SUM),
        (["n = (y == 1).float().mean()"], "(y == 1).float().mean()", Extent.MEAN),
        (["n = model(x).max()"], "model(x).max()", Extent.VARYING),
        (["n = len(train_loader)"], "len(train_loader)", Extent.UNIFORM),
        (["n = epoch * 2"], "epoch * 2", Extent.UNIFORM),
        (["n = loss.item() ** 2"], "loss.item() ** 2", Extent.VARYING),
        (["n = loss.abs()"], "loss.abs()", Extent.VARYING),
        (["n = (x / x.size(0)).sum()"], "(x / x.size(0)).sum()", Extent.MEAN),
        (["n = torch.sum(2 * (x / len(x)))"], "torch.sum(2 * (x / len(x)))", Extent.MEAN),
        (["n = (x / x.sum()).sum()"], "(x / x.sum()).sum()", Extent.VARYING),
        (["n = (x.softmax(0) * y).sum()"], "(x.softmax(0) * y).sum()", Extent.VARYING),
        (["n = (x.softmax(1) * y).sum()"], "(x.softmax(1) * y).sum()", Extent.SUM),
        (["n = x.std(0)"], "x.std(0)", Extent.VARYING),
        (["n = x.std(1)"], "x.std(1)", Extent.SAMPLES),
        (
            ["n = F.mse_loss(x, y, reduction='none').topk(3)"],
            "F.mse_loss(x, y, reduction='none').topk(3)",
            Extent.VARYING,
        ),
        (["n = train_loader.batch_size * x.mean()"], "train_loader.batch_size", Extent.SUM),
    ],
)
def test_extent_in_a_training_loop(lines, source, expected):
    assert extent(plan(*BEFORE, batch(*lines)), source) is expected


def test_what_nobody_reads_is_left_alone():
    assert not reductions(batch("unread = loss.item()"))


@pytest.mark.parametrize(
    ("before", "inside", "after"),
    [
        ("n = 0", "n = max(n, F.cross_entropy(model(x), y).item())", "print(n)"),
        ("n = 0", "n += len(x)\nif n > 10:\n        break", "print(n)"),
        ("n = 5", "n += len(x)", "print(n)"),
        ("n = 1.0", "n *= F.cross_entropy(model(x), y).item()", "print(n)"),
    ],
)
def test_an_evaluation_that_cannot_be_put_together_is_run_whole(before, inside, after):
    made = plan(*BEFORE, evaluation(before, inside, after))
    loops = [f.node for f in made.roles.evaluation_loops]
    assert loops
    assert set(loops) == made.assumed.whole.keys()
    assert "n" not in {r.name for r in made.facts.reductions.values()}


def test_numbers_of_a_function_are_followed_to_its_callers():
    function = """
@torch.no_grad()
def evaluate(model, loader):
    right = 0
    for x, y in loader:
        right += (model(x).argmax(1) == y).sum().item()
    return right / len(loader.dataset)
"""
    made = plan(*BEFORE, function, evaluation("acc = evaluate(model, test_loader)", "pass", "print(acc)"))
    assert extent(made, "evaluate(model, test_loader)") is Extent.UNIFORM
    assert {r.name: r.how for r in made.facts.reductions.values()}["right"] == "sum"


def test_a_condition_on_a_share_is_asked_of_all_ranks():
    made = plan(*BEFORE, batch("flag = 0", "if loss.item() > 1:", "    flag = 1", "    break", "print(flag)"))
    assert extent(made, "flag") is Extent.UNIFORM
    assert [made.program.source(d.node) for d in made.decisions] == ["loss.item()"]


def test_a_condition_on_the_epoch_does_not():
    made = plan(*BEFORE, batch("flag = 0", "if epoch > 1:", "    flag = 1", "print(flag)"))
    assert extent(made, "flag") is Extent.UNIFORM


def test_each_value_has_its_place():
    made = plan(*BEFORE, batch("a = loss.item()", "b = len(train_loader)"))
    found = {made.program.source(n): made.facts.value(n).extent for n in nodes(made, ast.Name, "loss")}
    assert found == {"loss": Extent.MEAN}


def test_what_a_function_returns_on_one_path_only_still_stands_for_the_share():
    step = """
    def step(x, y):
        if len(y) == 0:
            return None
        return F.cross_entropy(model(x), y).item(), len(y)
    """
    found = plan(*BEFORE, step, batch("found = step(x, y)", "l, n = found", "twice = l * 2, n * 2"))
    assert extent(found, "l * 2") is Extent.MEAN
    assert extent(found, "n * 2") is Extent.SUM


def test_parts_that_do_not_match_go_to_the_whole():
    step = "def step(x, y, both):\n    if both:\n        return x.mean(), 1\n    return x.sum()"
    found = plan(*BEFORE, step, batch("found = step(x, y, flag)"), "flag = True")
    assert extent(found, "step(x, y, flag)") is Extent.VARYING


def test_a_function_of_a_library_that_writes_into_what_it_is_given():
    cells = batch("numpy.add.at(counts, y, 1)", "torch.add(total, x.sum(), out=total)", "seen = counts, total")
    found = plan(*BEFORE, "import numpy\ncounts = numpy.zeros(2)\ntotal = torch.zeros(1)", cells)
    assert extent(found, "counts") is Extent.VARYING
    assert extent(found, "total") is Extent.VARYING


def test_what_a_class_gives_for_a_name_that_it_does_not_have():
    meters = """
    from collections import defaultdict
    class Meter:
        def __init__(self):
            self.sum = 0.0
        def add(self, value):
            self.sum += value
    class Meters:
        def __init__(self):
            self.all = defaultdict(lambda: Meter())
        def __getattr__(self, name):
            return self.all[name]
    meters = Meters()
    """
    found = plan(*BEFORE, meters, batch("meters.loss.add(loss.item())", "shown = meters.loss.sum"))
    assert extent(found, "meters.loss.sum") is Extent.MEAN
