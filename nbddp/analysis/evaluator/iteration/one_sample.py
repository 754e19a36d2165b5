"""One sample of a batch or a data set: loops that go through them one by one, and what names hold after them."""

from __future__ import annotations

import ast
from collections.abc import Set
from dataclasses import replace
from functools import lru_cache

from nbddp.analysis.syntax import Program, walk
from nbddp.analysis.values import (
    FLAT,
    LAST,
    MARKS,
    ONE,
    PICKED,
    PLACED,
    PLACES,
    TURNED,
    Extent,
    Machine,
    Several,
    Value,
    marked,
    single,
    spread,
)


def goes_through_samples(m: Machine, value: Value, node: ast.AST) -> bool:
    """Unless it may be a batch as a loader gives it, in which are several tensors; not those of `x.split(2)`."""
    match node:
        case ast.For(iter=source) | ast.AsyncFor(iter=source) | ast.comprehension(iter=source):
            pass
        case ast.Starred(value=source) | ast.Call(args=[source]) if value.rank is not None:  # `[*x]`, `list(x)`
            pass
        case _:
            return False
    plain = value.objs == value.of(*MARKS) - value.of(TURNED, FLAT, PICKED, PLACED) and not value.items
    each = spread(value) is Extent.SAMPLES and plain and not m.alone(value)
    return each and not isinstance(value.shape, Several) and not any(may_be_a_tuple(m, n) for n in walk(source))


def may_be_a_tuple(m: Machine, node: ast.AST) -> bool:
    """`for batch in loader`, `batch = next(batches)`, unless something is done to it that is done to tensors only."""
    if not isinstance(node, ast.Name) or m.facts.value(node).rank is not None:
        return False
    return (m.program.function_of(node), node.id) in _as_they_come(m.program)


@lru_cache(maxsize=4)
def _as_they_come(program: Program) -> Set[tuple[ast.AST | None, str]]:
    found = set[tuple[ast.AST | None, str]]()
    for node in program.nodes:
        match node:
            case ast.For(target=target) | ast.AsyncFor(target=target) | ast.comprehension(target=target):
                counted = isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func).endswith("enumerate")
                target = target.elts[-1] if counted and isinstance(target, ast.Tuple) else target
            case ast.Assign(targets=[target], value=ast.Call(func=ast.Name(id="next" | "tuple" | "list"))):
                pass
            case _:
                continue
        found |= {(program.function_of(node), target.id)} if isinstance(target, ast.Name) else set()
    return found


def side_by_side(parts: list[Value]) -> tuple[Value, ...]:
    """`zip(x, x[1:])`: as many as the shorter has, and of a share these are others."""
    if not any(spread(v) is Extent.SAMPLES and v.of(PLACED) for v in parts):
        return tuple(parts)
    return tuple(marked(replace(v, objs=v.objs - v.of(ONE)), PLACED) if v.of(ONE) else v for v in parts)


def of_this_turn(m: Machine, value: Value, node: ast.AST) -> Value:
    """Of a list of samples, or of pairs of them."""
    if value.items:
        return replace(value, items=tuple(of_this_turn(m, item, node) for item in value.items))
    return single(value, node) if value.of(ONE) and not m.alone(value) else value


def place_of_sample(counting: ast.AST | None = None) -> Value:
    """Where in its batch the one of a turn stands; of a number that a loop counts itself only while it runs."""
    place = marked(marked(Value(extent=Extent.SAMPLES, number=True), PLACED), PLACES)
    return place if counting is None else single(place, counting)


def leave_samples(m: Machine, loop: ast.For | ast.AsyncFor) -> None:
    """What names hold of one sample is that of the last one from then on."""
    for names in (m.globals, m.frame.local):
        for name, value in list(names.items()):
            if any(o.node is loop for o in value.of(ONE)) and value.varies:
                if value.of(PLACES):  # so many they were
                    names[name] = Value(extent=Extent.SUM, number=True)
                    continue
                last = replace(value, objs=value.objs - value.of(ONE))
                of_samples = value.extent is Extent.SAMPLES
                names[name] = marked(last, PLACED, LAST) if of_samples else last.with_extent(Extent.VARYING)
