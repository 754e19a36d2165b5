"""Which parts of an expression are combined, where it is shown as where it goes into a place."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.combining import Place, as_a_whole, parts
from nbddp.analysis.values import Extent, Value
from tests.analysis.cells import BEFORE, batch, node, plan

ONCE = """
import math
seen = []
def half(value):
    return abs(value) ** 0.5
def told(value):
    print(value)
    return abs(value) ** 0.5
def kept(value):
    seen.append(value)
    return abs(value) ** 0.5
class Meter:
    sum = 0.0
    def scaled(self, value):
        return (self.sum + value) ** 2
meter = Meter()
"""


def found(text: str, into: str) -> list[tuple[str, str | None]]:
    made = plan(*BEFORE, ONCE, batch("meter.sum += len(x)", f"result = {text}"))
    at = Place(made.program, made.facts, made.assumed, lambda _: None, into)
    return [(made.program.source(part), way) for part, way in parts(at, node(made, ast.expr, text))]


MEAN = ("loss.item()", "mean_over_ranks")


@pytest.mark.parametrize("into", ["", "result"])
@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("epoch", []),
        ("loss.item()", [MEAN]),
        ("math.sqrt(loss.item())", [MEAN]),
        ("round(math.sqrt(loss.item()), 3)", [MEAN]),
        ("half(loss.item())", [MEAN]),
        ("(epoch, loss.item())", [MEAN]),
        ("'{}'.format(loss.item())", [MEAN]),
        ("[*[loss.item()], len(x)]", [MEAN, ("len(x)", "sum_over_ranks")]),
        ("map(lambda n: n * 2, [loss.item()])", [MEAN]),
        ("told(loss.item())", [("told(loss.item())", None)]),
        ("kept(loss.item())", [("kept(loss.item())", None)]),
        ("meter.scaled(loss.item())", [("meter.scaled(loss.item())", None)]),
    ],
)
def test_a_part_has_one_way_where_it_is_shown_and_where_it_is_kept(text, ways, into):
    assert found(text, into) == ways


def test_samples_that_go_in_are_gathered_and_shown_ones_are_reported():
    text = "math.sqrt(x.max().item())"
    assert found(text, "result") == [("x", "gather_samples")]
    assert found(text, "") == [(text, None)]


def test_what_may_be_a_guard_of_one_rank_is_not_combined_in_each_step():
    text = "loss.item() if len(x) > 2 else 0"
    assert found(text, "result") == [(text, None)]


def test_counts_beside_what_is_alike_are_not_added_up_in_one():
    count, alike = Value(extent=Extent.SUM), Value()
    assert as_a_whole(Value(items=(count, alike))) is Extent.VARYING
    assert as_a_whole(Value(items=(count, count))) is Extent.SUM
    assert as_a_whole(Value(items=(Value(extent=Extent.MEAN), alike))) is Extent.MEAN
