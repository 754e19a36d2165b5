"""Writes into what others may hold: arrays, arguments named `out`, parameters of models."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, batch, plan, seen

NAMES = "import heapq\nimport numpy as np\nbest = []\ncounts = np.zeros(2)\ntotal = torch.zeros(8)\n"


@pytest.mark.parametrize(
    ("line", "source", "expected"),
    [
        ("heapq.heappush(best, loss.item())", "best[0]", Extent.VARYING),
        ("heapq.heappush(best, epoch)", "best[0]", Extent.UNIFORM),
        ("np.add.at(counts, y, 1)", "counts.sum()", Extent.VARYING),
        ("np.add.at(counts, epoch, 1)", "counts.sum()", Extent.UNIFORM),
        ("torch.add(total, x[0], out=total)", "total.sum()", Extent.VARYING),
        ("torch.add(total, 1, out=total)", "total.sum()", Extent.UNIFORM),
    ],
)
def test_functions_that_change_an_argument(line, source, expected):
    assert seen(source, line, f"n = {source}", before=NAMES) is expected


def moved(*lines: str) -> set[str]:
    made = plan(IMPORTS, DATA, MODEL + "teacher = nn.Linear(8, 2)\n", batch(*lines))
    return {made.program.source(o.node) + str(o.node.lineno) for o in made.facts.changed}


@pytest.mark.parametrize(
    "lines",
    [
        ["for p in teacher.parameters():", "    p.data.mul_(0.9)"],
        ["for p in teacher.parameters():", "    p.data = p.data * 0.9"],
        ["for p in teacher.parameters():", "    p.data[0] += 1"],
        ["for p, q in zip(teacher.parameters(), model.parameters()):", "    p.detach().copy_(q)"],
        ["teacher.load_state_dict(model.state_dict())"],
        ["nn.init.zeros_(teacher.weight)"],
        ["for p in list(teacher.parameters()):", "    p.view(-1).mul_(2)"],
    ],
)
def test_models_whose_parameters_are_moved_by_hand(lines):
    (name,) = moved(*lines)
    assert name.startswith("nn.Linear(8, 2)")


@pytest.mark.parametrize(
    "lines",
    [
        ["n = [p.data.sum() for p in teacher.parameters()]"],
        ["for p in teacher.parameters():", "    p.requires_grad_(False)"],
        ["n = teacher.weight.clone().mul_(2)"],
        ["total = torch.zeros(1)", "total.add_(1)"],
    ],
)
def test_models_that_are_only_looked_at(lines):
    assert not moved(*lines)


def test_the_loops_around_a_move_are_noted():
    made = plan(*BEFORE, batch("for p in model.parameters():", "    p.data.mul_(0.9)"))
    (loops,) = made.facts.changed.values()
    assert len(loops) == 3


SCORE = """
def score(v, sums):
    sums[0] += v

def add(v):
    sums[0] += v

def grow(v, n):
    n += v
"""


@pytest.mark.parametrize(
    ("made", "line", "expected"),
    [
        ("torch.zeros(2)", "score(loss.item(), sums)", Extent.MEAN),
        ("torch.zeros(2)", "score(len(x), sums)", Extent.SUM),
        ("torch.ones(2)", "score(len(x), sums)", Extent.VARYING),  # it would be counted once for each rank
        ("torch.zeros(2)", "score(epoch, sums)", Extent.UNIFORM),
        ("torch.zeros(2)", "add(len(x))", Extent.SUM),
        ("torch.zeros(2)", "grow(len(x), sums)", Extent.SUM),
        ("torch.zeros(2)", "grow(len(x), n=sums)", Extent.SUM),
        ("0", "grow(len(x), sums)", Extent.UNIFORM),  # a number is the function's own
        ("''", "grow(str(loss.item()), sums)", Extent.UNIFORM),
    ],
)
def test_what_a_function_does_to_an_array_shows_where_it_is_called(made, line, expected):
    assert seen("(sums, 1)[0]", line, "n = (sums, 1)[0]", before=f"sums = {made}\n{SCORE}") is expected


def test_fields_that_a_function_is_given_are_changed_too():
    before = f"class Meter:\n    pass\n\nmeter = Meter()\nmeter.sums = torch.zeros(2)\n{SCORE}"
    found = seen("meter.sums.clone()", "score(loss.item(), meter.sums)", "n = meter.sums.clone()", before=before)
    assert found is Extent.MEAN


@pytest.mark.parametrize(
    ("other", "line", "expected"),
    [
        ("other = sums", "other += loss.item()", Extent.MEAN),
        ("other = sums[0]", "other += loss.item()", Extent.MEAN),
        ("other = sums", "other.add_(loss.item())", Extent.MEAN),
        ("other = sums", "other = other + loss.item()", Extent.UNIFORM),
        ("other = sums.clone()", "other += loss.item()", Extent.UNIFORM),
        ("other = sums\nother = torch.zeros(2)", "other += loss.item()", Extent.UNIFORM),
    ],
)
def test_an_array_is_changed_under_all_its_names(other, line, expected):
    assert seen("(sums, 1)[0]", line, "n = (sums, 1)[0]", before=f"sums = torch.zeros(2)\n{other}") is expected


FIELD = "class Meter:\n    def __init__(self, a):\n        self.a = a\n\nmeter = Meter(sums)\n"


@pytest.mark.parametrize(
    ("other", "line", "expected"),
    [
        (FIELD, "meter.a += loss.item()", Extent.MEAN),
        ("both = {'a': sums}", "both['a'] += loss.item()", Extent.MEAN),
        ("both = [sums, 1]", "for one in both[:1]:\n            one += loss.item()", Extent.MEAN),
        ("other, n = sums, 1", "other += loss.item()", Extent.MEAN),
        ("def same(a):\n    return a\n\nother = same(sums)", "other += loss.item()", Extent.MEAN),
        ("other = sums.view(-1)", "other += loss.item()", Extent.MEAN),
        ("other = torch.as_tensor(sums)", "other += loss.item()", Extent.MEAN),
        ("other = sums.numpy().T", "other += loss.item()", Extent.MEAN),
        ("import numpy as np", "np.copyto(sums.numpy(), loss.item())", Extent.VARYING),
        ("other = torch.zeros_like(sums)", "other += loss.item()", Extent.UNIFORM),
        ("kept = [sums]\nsums = torch.zeros(2)", "kept[0] += loss.item()", Extent.UNIFORM),
    ],
)
def test_an_array_is_one_wherever_it_is_held(other, line, expected):
    assert seen("(sums, 1)[0]", line, "n = (sums, 1)[0]", before=f"sums = torch.zeros(2)\n{other}") is expected
