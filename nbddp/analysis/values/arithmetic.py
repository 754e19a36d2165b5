"""The arithmetic of extents: how what one rank computes from its share relates to the number of one process.

Every row is run against numbers on simulated ranks, in tests/analysis/values/test_arithmetic.py: a row that is not true
for all numbers is `varying` here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from nbddp.analysis.library import effect_of
from nbddp.analysis.values.domain import (
    ASSUMED,
    DRAWN,
    FRACTION,
    KEPT,
    LINE,
    MARKS,
    ONE,
    PICKED,
    PLACED,
    PLACES,
    RATED,
    SHIFTED,
    STATISTIC,
    TURNED,
    WEIGHTED,
    WHOLE,
    Extent,
    Value,
    alike,
    each_by_place,
    is_zero,
    marked,
    of_gradient,
    of_one,
    placed,
    spread,
)

SEVERAL_BATCHES = 2
SMALL = 1e-10  # of which the gradient of a sample is many times as long
TINY = 1e-5  # what keeps a number of samples from being zero, where something is divided by it

# Methods and functions that are operators by another name.
OPERATORS: dict[str, ast.operator] = {
    **dict.fromkeys(("add", "__add__"), ast.Add()),
    **dict.fromkeys(("sub", "subtract", "__sub__"), ast.Sub()),
    **dict.fromkeys(("mul", "multiply", "__mul__"), ast.Mult()),
    **dict.fromkeys(("div", "divide", "true_divide", "__truediv__"), ast.Div()),
    **dict.fromkeys(("floor_divide", "__floordiv__"), ast.FloorDiv()),
    **dict.fromkeys(("remainder", "fmod", "mod"), ast.Mod()),
    **dict.fromkeys(("pow", "power", "float_power"), ast.Pow()),
}


def binary(left: Value, right: Value, op: ast.operator) -> Value:
    extent = _extent(left, right, op)
    marks = of_one(Value(left.of(*MARKS) | right.of(*MARKS)), (left, right)).objs
    marks = each_by_place(marks) if left.varies and right.varies else marks
    size = extent is Extent.SUM and all(v.size or not v.varies for v in (left, right))
    if left.of(ONE) and right.of(ONE) and not marks & left.of(ONE):
        extent = Extent.VARYING  # two samples of a batch, of which a share has fewer pairs
    marks = frozenset(o for o in marks if o.kind != DRAWN) if _is_apart(left, right) else marks
    if _of_weights(left, right) or _of_weights(right, left):
        return Value(extent=Extent.REPEATED)
    found = Value(marks, extent, None, None, equal=alike(left) and alike(right), size=size)
    found = replace(found, number=_is_number(left) and _is_number(right), batches=_batches(left, right, op))
    if any(
        spread(v) is Extent.VARYING and v.number and spread(o) is Extent.SAMPLES
        for v, o in ((left, right), (right, left))
    ):
        return marked(found, STATISTIC)  # `x * math.sqrt(len(x))`
    match op:
        case ast.Add() | ast.Sub():
            if {spread(left), spread(right)} in ({Extent.SAMPLES, Extent.MEAN}, {Extent.SAMPLES, Extent.SUM}):
                found = marked(found, STATISTIC)  # `x + x.mean(0)`, `x + len(x)`
            found = marked(found, WEIGHTED, SHIFTED) if _is_shifted(left, right) else found
            return _with_things(found, left, right, op)
        case ast.MatMult():
            gone = left.of(TURNED) if extent is Extent.SUM else frozenset()
            return Value(marks - gone, extent)
        case ast.Mult():
            found = replace(found, objs=marks | left.of("list"))
            found = marked(found, RATED) if _is_rate_of_samples(left, right) else found
            parts = extent is Extent.SUM and any(isinstance(v.const, float) for v in (left, right))
            found = marked(found, FRACTION) if parts else found
            sized = extent is Extent.VARYING and {spread(left), spread(right)} == {Extent.SAMPLES, Extent.SUM}
            found = marked(found, WEIGHTED) if sized else found  # `x * len(x)`
            return marked(found, ASSUMED) if assumes(left, right) else found
        case ast.Div():
            free = of_gradient(left) if _has_its_scale(left, right) else frozenset()  # `g / g.norm(dim=1)`
            found = replace(found, objs=marks - free | left.of("path"))
            if spread(left) is Extent.SAMPLES and spread(right) is Extent.SUM:
                return marked(found, RATED if right.equal else WEIGHTED)
            return marked(found, FRACTION) if extent is Extent.SUM else found
    return found


def _is_shifted(left: Value, right: Value) -> bool:
    """`g.norm() + 0.01`: not by what keeps it from being zero, nor where both are gradients."""
    if bool(of_gradient(left)) is bool(of_gradient(right)):
        return False
    other = right if of_gradient(left) else left
    return not (isinstance(other.const, int | float) and abs(other.const) < SMALL)


def _has_its_scale(left: Value, right: Value) -> bool:
    return bool(of_gradient(right)) and not any(o.name == SHIFTED for v in (left, right) for o in v.of(WEIGHTED))


def _batches(left: Value, right: Value, op: ast.operator) -> int:
    """`seen + len(x)`: of more batches than this one, whose shares no one weight makes up for."""
    counts = [v.batches for v in (left, right) if spread(v) is Extent.SUM]
    adds = isinstance(op, ast.Add | ast.Sub) and len(counts) > 1
    return SEVERAL_BATCHES if adds and any(counts) else max(counts, default=0)


def _is_apart(left: Value, right: Value) -> bool:
    """Is one of them of samples, and no noise?"""
    return any(v.varies and not v.of(DRAWN) for v in (left, right))


def _of_weights(weights: Value, noise: Value) -> bool:
    """`self.mean + self.sigma * torch.randn(self.rows, self.columns)`: each rank has all of it."""
    rank = weights.rank if weights.of("parameter") and noise.of(DRAWN) and not weights.varies else None
    return bool(rank) and rank == noise.rank and weights.shape[:1] != (1,)  # type: ignore[index]


def _is_number(value: Value) -> bool:
    """Also `math.pi` and `scipy.constants.hbar`."""
    constants = value.of("library")
    return value.number or (bool(constants) and all(effect_of(o.name).numeric for o in constants))


def _with_things(found: Value, left: Value, right: Value, op: ast.operator) -> Value:
    """Lists that are joined, and a number that is known."""
    if isinstance(op, ast.Sub):
        return found
    numbers = all(isinstance(v.const, int | float) and v.number for v in (left, right))  # no tensor of zeros
    known = numbers or all(isinstance(v.const, str) for v in (left, right))  # `"pre_" + self.mode`
    is_array = any(v.arrays or v.rank for v in (left, right))  # a counter on top of which is none
    gone = ("library", "submodule", PLACES, "counter" if is_array else PLACES)
    objs = frozenset(o for o in left.objs | right.objs if o.kind not in gone)
    return replace(found, objs=found.objs | objs, const=left.const + right.const if known else None)  # type: ignore[operator]


def _extent(left: Value, right: Value, op: ast.operator) -> Extent:
    match op:
        case ast.Add() | ast.Sub():
            extent = _add(left, right)
        case ast.Mult() if isinstance(left.const, str) or isinstance(right.const, str):
            extent = elementwise((left, right))  # `"=" * len(x)`
        case ast.Mult():
            extent = Extent.SUM if assumes(left, right) else _multiply(left, right)
        case ast.MatMult():
            extent = product(left, right)
        case ast.Div():
            extent = _divide(left, right)
        case ast.FloorDiv():
            extent = _floor(left, right)
        case _:
            extent = elementwise((left, right))
    repeated = extent is Extent.UNIFORM and Extent.REPEATED in (spread(left), spread(right))
    return Extent.REPEATED if repeated else extent


def elementwise(values: Iterable[Value]) -> Extent:
    """Of any function that takes each sample for itself: what it makes of a sum or a mean adds up no more."""
    values = tuple(values)
    extents = {spread(v) for v in values}
    if extents <= {*WHOLE}:
        return Extent.REPEATED if Extent.REPEATED in extents else Extent.UNIFORM
    plain = extents <= {*WHOLE, Extent.SAMPLES} and not any(v.of(RATED) for v in values)
    return Extent.SAMPLES if plain else Extent.VARYING


def _sides(a: Value, b: Value) -> tuple[Extent, Extent]:
    x, y = spread(a), spread(b)
    return Extent.UNIFORM if x is Extent.REPEATED else x, Extent.UNIFORM if y is Extent.REPEATED else y


def _add(a: Value, b: Value) -> Extent:
    x, y = _sides(a, b)
    if is_zero(a) or is_zero(b):
        return y if is_zero(a) else x
    if x is y:
        return Extent.VARYING if bool(a.of(RATED)) != bool(b.of(RATED)) else x
    if Extent.UNIFORM in (x, y):  # what is added to a sum is added once by each rank
        other, constant = (y, a.const) if x is Extent.UNIFORM else (x, b.const)
        if _is_count(b if x is Extent.UNIFORM else a) and isinstance(constant, float) and abs(constant) <= TINY:
            return other  # `n + 1e-8`, but for rounding
        plain = other is Extent.MEAN or (other is Extent.SAMPLES and not (a.of(RATED) or b.of(RATED)))
        return other if plain else Extent.VARYING
    return Extent.VARYING  # also samples that the mean of their own share is taken from


def assumes(a: Value, b: Value) -> bool:
    """`score(output, target) * len(target)`, of a module that is not read: who weights it so says that it is a mean."""
    for number, size in ((a, b), (b, a)):
        if spread(number) is Extent.VARYING and spread(size) is Extent.SUM and size.equal and size.number:
            return not number.of(STATISTIC, WEIGHTED)
    return False


def _multiply(a: Value, b: Value) -> Extent:
    x, y = _sides(a, b)
    if Extent.UNIFORM in (x, y):
        return y if x is Extent.UNIFORM else x
    if x is y is Extent.SAMPLES:
        return Extent.VARYING if a.of(RATED) and b.of(RATED) else x
    if {x, y} == {Extent.RATE, Extent.SUM}:
        return Extent.MEAN
    if {x, y} == {Extent.MEAN, Extent.SUM}:  # of the same samples; any other sum weights the ranks' means
        weight = a if x is Extent.SUM else b
        return Extent.SUM if (weight.equal or weight.size) and not weight.batches else Extent.VARYING
    return Extent.SAMPLES if _is_rate_of_samples(a, b) else Extent.VARYING


def _is_rate_of_samples(a: Value, b: Value) -> bool:
    """`losses * (1 / len(y))`."""
    return {spread(a), spread(b)} == {Extent.SAMPLES, Extent.RATE} and not (a.of(RATED) or b.of(RATED))


def _divide(a: Value, b: Value) -> Extent:
    x, y = _sides(a, b)
    if y is Extent.UNIFORM:
        return x
    if x is Extent.SAMPLES:
        over = y is Extent.SUM and not a.of(RATED)
        return x if over or (y is Extent.SAMPLES and not b.of(RATED)) else Extent.VARYING
    if x is Extent.UNIFORM and y is Extent.SUM and b.equal:
        return Extent.RATE
    if x is Extent.UNIFORM and y is Extent.SAMPLES and not b.of(RATED):
        return y
    # a mean over the share; over shares of unlike size, the mean of means is another number
    return Extent.MEAN if x is y is Extent.SUM and b.equal and b.batches < SEVERAL_BATCHES else Extent.VARYING


def _floor(a: Value, b: Value) -> Extent:
    """What is cut off on each rank is not what one process cuts off."""
    sizes = all(spread(v) is Extent.SUM and v.equal for v in (a, b))
    return Extent.MEAN if sizes else elementwise((a, b))


def product(a: Value, b: Value) -> Extent:
    """Of matrices: `features.T @ features` is a sum over the samples."""
    if spread(a) is spread(b) is Extent.SAMPLES and a.of(TURNED) and not b.of(TURNED):
        return Extent.SUM
    return _multiply(a, b)


def unary(value: Value, op: ast.unaryop) -> Value:
    if isinstance(op, ast.UAdd | ast.USub):
        return value if value.const is None else replace(value, const=None)
    return Value(value.of(*MARKS), elementwise((value,)), equal=value.equal)


def guarded(values: Iterable[Value]) -> Value | None:
    """`max(1, n)` and `n or 1` of a number of samples: a rank has some of them where one process has."""
    varying = [v for v in values if v.varies]
    limits = [v.const for v in values if not v.varies]
    least = all(isinstance(one, int | float) and one <= 1 for one in limits)
    return varying[0] if least and len(varying) == 1 and _is_count(varying[0]) else None


def _is_count(value: Value) -> bool:
    return spread(value) is Extent.SUM and value.equal and not value.of(FRACTION)


def chosen(values: list[Value], joined: Value) -> Value:
    """`a or b`: each rank chooses by its own `a`."""
    if (count := guarded(values)) is not None and count is values[0]:
        return count
    known = all(alike(v) or spread(v) is Extent.SAMPLES for v in values[:-1])
    return joined if known else joined.with_extent(Extent.VARYING)


def absolute(value: Value) -> Extent:
    """Means and sums of either sign are less together than each for itself."""
    extent = spread(value)
    return Extent.VARYING if extent is Extent.MEAN or (extent is Extent.SUM and not value.equal) else extent


def rounded(value: Value) -> Extent:
    """Counts are whole as they are."""
    counts = spread(value) is Extent.SUM and not value.of(FRACTION)
    return Extent.SUM if counts else elementwise((value,))


def _asked(value: Value) -> Extent:
    return elementwise((value,))


# What is made of one number, by the names of methods and functions.
UNARY: dict[str, Callable[[Value], Extent]] = {
    "abs": absolute,
    "bool": _asked,
    **dict.fromkeys(("int", "long", "byte", "short"), rounded),
    **dict.fromkeys(("round", "around", "floor", "ceil", "trunc"), _asked),
}


def summed(value: Value) -> Extent:
    """What a sum over samples is."""
    if value.of(WEIGHTED, PLACED):
        return Extent.VARYING
    return Extent.MEAN if value.of(RATED) else Extent.SUM


def averaged(value: Value) -> Extent:
    """What a mean over samples is."""
    single = value.of(PLACED) and not value.of(PICKED)
    return Extent.VARYING if value.of(WEIGHTED, RATED, KEPT) or single else Extent.MEAN


def turned(value: Value, *, line: bool = False) -> Value:
    """A batch transposed, or back again; of two dimensions, as `x.T` is, the second is the last one."""
    if value.of(TURNED, ONE) or spread(value) is not Extent.SAMPLES:
        return placed(value) if value.of(TURNED) else value
    back = placed(value, TURNED)
    return value if value.of(LINE) else marked(back, LINE) if line else back
