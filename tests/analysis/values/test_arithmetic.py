"""Every row of the arithmetic, against numbers: no row is written down here, each is computed on simulated ranks."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from nbddp.analysis.values import (
    ASSUMED,
    UNARY,
    Extent,
    Value,
    averaged,
    binary,
    chosen,
    elementwise,
    guarded,
    join_all,
    summed,
)
from nbddp.analysis.values import unary as of_one
from tests.analysis.values.simulated import SHARES, Known, World, is_true, spread_over

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING


def exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *numbers: function(*map(Fraction, numbers))


BINARY = {
    ast.Add: exactly(operator.add),
    ast.Sub: exactly(operator.sub),
    ast.Mult: exactly(operator.mul),
    ast.Div: exactly(operator.truediv),
    ast.FloorDiv: exactly(operator.floordiv),
    ast.Mod: exactly(operator.mod),
    ast.Pow: exactly(operator.pow),
}
LINEAR = (ast.Add, ast.Sub, ast.Mult, ast.Div)
UNARY_OPERATORS = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
CHOICES = {"and": lambda a, b: a and b, "or": lambda a, b: a or b}
ALONE = {"abs": abs, "bool": bool, "int": int, "long": int, "byte": int, "short": int, "round": round, "around": round,
         "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc}  # fmt: skip
worlds = pytest.mark.parametrize("world", [World(shares) for shares in SHARES], ids=str)


@worlds
@pytest.mark.parametrize("op", BINARY)
def test_what_an_operation_claims_is_so(world, op):
    pairs = [(a, b) for a in world.values() for b in world.values()]
    false = [(a.title, b.title) for a, b in pairs if not is_true(world, claim(a, op, b), BINARY[op], a, b)]
    assert not false


def claim(left: Known, op: type[ast.operator], right: Known) -> Value:
    """Without what is only assumed: of such values no more is known than that they were weighted."""
    found = binary(left.value, right.value, op())
    return Value(extent=V) if found.of(ASSUMED) else found


@pytest.mark.parametrize("world", [World((3, 3, 3)), World((2, 4))], ids=str)
@pytest.mark.parametrize("first", LINEAR)
def test_what_two_operations_claim_is_so(world, first):
    """What the first leaves beside the extent must keep the second from claiming too much."""
    false = []
    parts = [k for k in world.values() if not k.title.endswith("-1") and k.title not in ("0", "3")]
    for a, b in ((a, b) for a in parts for b in parts):
        both = Known("", claim(a, first, b), *computed(BINARY[first], a, b))
        for c, second in ((c, op) for c in parts for op in (*LINEAR, ast.FloorDiv) if both.value.extent is not V):
            if not is_true(world, claim(both, second, c), BINARY[second], both, c):
                false.append((a.title, b.title, second, c.title))
            if not is_true(world, claim(c, second, both), BINARY[second], c, both):
                false.append((c.title, second, a.title, b.title))
    assert not false


def computed(function: Callable[..., Any], *operands: Known) -> tuple[Any, Any]:
    ranks = tuple(spread_over(function, *given) for given in zip(*(o.ranks for o in operands), strict=True))
    return ranks, spread_over(function, *(o.whole for o in operands))


def comes_to_a_number(op: type[ast.operator], *operands: Known) -> bool:
    try:
        computed(BINARY[op], *operands)
    except ZeroDivisionError:
        return False
    return True


@worlds
@pytest.mark.parametrize("op", LINEAR)
def test_what_a_sum_or_a_mean_of_samples_claims_is_so(world, op):
    """`(losses / len(y)).sum()` is a mean, `(losses / weights.sum()).sum()` is nothing that adds up."""
    false = []
    for a, b in ((a, b) for a in world.values() for b in world.values() if comes_to_a_number(op, a, b)):
        value, (ranks, whole) = claim(a, op, b), computed(BINARY[op], a, b)
        if value.extent is S:
            of_sum, of_mean = Value(extent=summed(value)), Value(extent=averaged(value))
            if not world.holds(of_sum, tuple(map(sum, ranks)), sum(whole)):
                false.append(("sum", a.title, b.title))
            means = tuple(sum(r) / Fraction(len(r)) for r in ranks)
            if not world.holds(of_mean, means, sum(whole) / Fraction(len(whole))):
                false.append(("mean", a.title, b.title))
    assert not false


@worlds
@pytest.mark.parametrize("function", COMPARISONS)
def test_what_a_comparison_claims_is_so(world, function):
    pairs = [(a, b) for a in world.values() for b in world.values()]
    assert not [
        (a.title, b.title)
        for a, b in pairs
        if not is_true(world, Value(extent=elementwise((a.value, b.value))), function, a, b)
    ]


@worlds
@pytest.mark.parametrize("word", CHOICES)
def test_what_a_choice_claims_is_so(world, word):
    """Of numbers of one kind, some of which are zero: what may be either kind is known by its extent no more."""
    false = []
    for known in (k for k in world.values() if k.value.extent is not S):
        other = tuple(0 if rank == 0 else number for rank, number in enumerate(known.ranks))
        whole = world.claimed(known.value, other)
        if known.value.extent is M or (known.value.extent is T and not known.value.equal):
            zero = Known("zero", known.value, other, whole)
            values = [zero.value, known.value]
            if not is_true(world, chosen(values, join_all(values)), CHOICES[word], zero, known):
                false.append(known.title)
    assert not false


@worlds
@pytest.mark.parametrize("least", [Fraction(1, 2), 1, 2])
def test_what_a_guard_of_a_count_claims_is_so(world, least):
    """`max(1, n)`; of other numbers, and with other limits, nothing is claimed."""
    limit = Known("limit", Value(const=float(least)), (least,) * len(world.shares), least)
    half = Known("half", Value(const=2), (2,) * len(world.shares), 2)
    halves = [
        Known(k.title, claim(k, ast.Div, half), *computed(BINARY[ast.Div], k, half))
        for k in world.values()
        if k.value.extent is T
    ]
    known = [k for k in (*world.values(), *halves) if k.value.extent is not S]
    found = [(k, guarded([limit.value, k.value]) or Value(extent=V)) for k in known]
    assert not [k.title for k, value in found if not is_true(world, value, max, limit, k)]


def test_a_count_with_its_guard_is_a_count():
    count, one, tiny = Value(extent=T, equal=True, number=True), Value(const=1), Value(const=1e-8)
    assert guarded([one, count]) == chosen([count, one], join_all([count, one])) == count
    assert binary(count, tiny, ast.Add()).extent is binary(tiny, count, ast.Add()).extent is T
    uneven = replace(count, equal=False)
    assert guarded([one, uneven]) is None
    assert binary(uneven, tiny, ast.Add()).extent is V


@worlds
@pytest.mark.parametrize("op", UNARY_OPERATORS)
def test_what_an_operation_on_one_number_claims_is_so(world, op):
    known = world.values()
    assert not [k.title for k in known if not is_true(world, of_one(k.value, op()), UNARY_OPERATORS[op], k)]


@worlds
@pytest.mark.parametrize("word", UNARY)
def test_what_a_function_of_one_number_claims_is_so(world, word):
    """Of a sum that was not divided: it is taken for a count."""
    two = Known("two", Value(const=2), (2,) * len(world.shares), 2)
    halves = [
        Known(f"half {k.title}", claim(k, ast.Div, two), *computed(BINARY[ast.Div], k, two)) for k in world.values()
    ]
    counts = [k for k in world.values() if k.value.extent is not T or all(n == int(n) for n in k.ranks)]
    part = Known("part", Value(const=0.3), (Fraction(3, 10),) * len(world.shares), Fraction(3, 10))
    halves += [Known(f"part {k.title}", claim(k, ast.Mult, part), *computed(BINARY[ast.Mult], k, part)) for k in counts]
    known = [(k, replace(k.value, extent=UNARY[word](k.value))) for k in (*counts, *halves)]
    assert not [k.title for k, found in known if not is_true(world, found, ALONE[word], k)]


@pytest.mark.parametrize(
    ("left", "op", "right", "result"),
    [
        (Value(extent=M), ast.Add, Value(), M),
        (Value(extent=M), ast.Sub, Value(extent=M), M),
        (Value(extent=T), ast.Add, Value(extent=T), T),
        (Value(extent=T), ast.Add, Value(const=0), T),
        (Value(extent=S), ast.Add, Value(extent=S), S),
        (Value(extent=M), ast.Mult, Value(), M),
        (Value(extent=T), ast.Mult, Value(), T),
        (Value(extent=M), ast.Mult, Value(extent=T, size=True), T),
        (Value(extent=M), ast.Mult, Value(extent=T, equal=True), T),
        (Value(extent=Extent.RATE), ast.Mult, Value(extent=T), M),
        (Value(extent=S), ast.Mult, Value(extent=S), S),
        (Value(extent=T), ast.Div, Value(), T),
        (Value(extent=T), ast.Div, Value(extent=T, equal=True), M),
        (Value(), ast.Div, Value(extent=T, equal=True), Extent.RATE),
        (Value(extent=S), ast.Pow, Value(), S),
        (Value(), ast.Mult, Value(extent=Extent.REPEATED), Extent.REPEATED),
    ],
)
def test_what_has_to_be_known(left, op, right, result):
    """That nothing false is claimed would hold as well where nothing is."""
    assert binary(left, right, op()).extent is result
