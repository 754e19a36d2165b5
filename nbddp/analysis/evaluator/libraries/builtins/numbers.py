"""Lengths, numbers, and what is made of samples one by one."""

from __future__ import annotations

import ast
from dataclasses import replace
from math import inf

from nbddp.analysis.evaluator.iteration import is_indirect, iterate, taken_from
from nbddp.analysis.evaluator.libraries.things import made_with
from nbddp.analysis.values import (
    EACH,
    MARKS,
    MOVED,
    ONE,
    PICKED,
    PLACED,
    STATISTIC,
    TURNED,
    UNARY,
    WHOLE,
    Extent,
    Machine,
    Value,
    alike,
    is_uneven,
    marked,
    some_by_place,
    spread,
)

INFINITE: dict[object, float] = {"inf": inf, "+inf": inf, "-inf": -inf, "Inf": inf, "-Inf": -inf}
MADE_OF_A_SHARE = {
    **dict.fromkeys(("sorted", "reversed"), (MOVED,)),
    **dict.fromkeys(("set", "frozenset"), (STATISTIC,)),  # what other ranks have too counts once
    "itertools.islice": (PICKED, PLACED),
}


def of_a_share(m: Machine, node: ast.Call, name: str, first: Value) -> Value | None:
    """What Python's own functions make of samples, and of numbers that each rank has for itself."""
    if spread(first) is Extent.SAMPLES and not first.objs - first.of(*MARKS):
        for mark in MADE_OF_A_SHARE.get(name, ()):
            first = marked(first, mark)
        return first if name in MADE_OF_A_SHARE else None
    rows = any(o.kind == "iterator" and o.name != "items" for o in first.objs)  # `sorted(zip(losses, labels))`
    inner = iterate(m, first, node) if rows else m.elements(first)
    if name == "sorted" and (rows or first.of("list")) and spread(inner) in (Extent.SAMPLES, Extent.MEAN, Extent.SUM):
        return made_with(m, m.make("list", node), {"[]": inner.with_extent(Extent.VARYING)})  # each rank by its own
    alone = name in ("any", "all") and (first.of("list") or first.items)
    return replace(inner, objs=frozenset(), const=None) if alone and inner.varies and alike(inner) else None


def as_number(m: Machine, name: str, value: Value) -> Value:
    inner = m.elements(value) if value.of("list") else value
    word = name.rsplit(".", 1)[-1]
    extent = UNARY[word](inner) if word in UNARY else m.held(inner) if inner.of("list") else spread(inner)
    if value.of("list") and extent in WHOLE and value.extent is Extent.SAMPLES:
        extent = value.extent  # `torch.tensor(rows)`, of rows that the script has cut
    if value.of("instance"):
        extent = Extent.VARYING if m.held(value) not in WHOLE else Extent.UNIFORM
        return Value(extent=extent)
    if name == "str" and extent not in WHOLE:
        return Value(extent=Extent.VARYING)
    if name in ("float", "int", "round"):
        extent = m.one_number(extent, value)
    const = value.const if isinstance(value.const, int | float) else INFINITE.get(value.const)
    number = name in ("float", "int") or (value.number and name in ("round", "abs"))
    objs = value.objs - value.of("list")
    return Value(objs, extent, const=const, equal=value.equal, batches=value.batches, number=number)


def _of_samples(m: Machine, value: Value, inner: Value) -> Value:
    """How many rows a sample has, or how many samples there are in a list."""
    even = not is_uneven(m.facts, value)
    apart = m.size(inner) if m.alone(inner) else Value(extent=Extent.SUM, equal=not m.deals(), number=True)
    return apart if even else Value(extent=Extent.VARYING, number=True)


def length(m: Machine, value: Value) -> Value:
    if value.of("loader", "dataset", "loader sampler", "shape"):  # a part of a batch has as many dimensions
        return Value(number=True)
    if value.of(EACH, PICKED):
        apart = some_by_place(value) or spread(value) is Extent.VARYING  # `len(x.topk(2, 0).values)`
        return Value(extent=Extent.VARYING if apart else Extent.SUM, number=True)
    inner = m.elements(value) if value.of("list") else value
    if inner.of(ONE) and inner.varies:
        if not (value.of("list") or m.alone(value)):  # `len(target["boxes"])`, of a sample from a list of them
            return Value(inner.of(ONE), Extent.SAMPLES, number=True)
        growing = value.of("list") and m.alone(inner)  # in the loop that fills it
        return Value(extent=Extent.VARYING, number=True) if growing else _of_samples(m, value, inner)
    if value.of("iterator") and Extent.SAMPLES in taken_from(m, value):
        plain = not is_indirect(m, value)
        return Value(extent=Extent.SUM if plain else Extent.VARYING, equal=plain, number=True)
    if value.of(STATISTIC) or is_uneven(m.facts, value) or (spread(value) is Extent.VARYING and not value.objs):
        return Value(extent=Extent.VARYING, number=True)
    cut = value.extent is Extent.SAMPLES and spread(m.elements(value)) in WHOLE  # a list of samples by the script
    if value.of("list") and not cut:  # as many as there are batches, or samples
        return Value(
            extent=Extent.VARYING if spread(m.elements(value)) is Extent.SAMPLES or m.deals() else Extent.UNIFORM,
            number=True,
        )
    return m.size(value) if spread(value) is Extent.SAMPLES and not value.of(TURNED) else Value(number=True)
