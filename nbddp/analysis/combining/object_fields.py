"""What objects collect in a training loop: `self.losses.append(loss.item())`, put together in each step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.combining.each_step import NotUnderstood, Parts, parts_of, straight
from nbddp.analysis.combining.filled_by_callees import read_by_called
from nbddp.analysis.slicing import inside
from nbddp.analysis.values import WHOLE, Extent, LoopFact, Machine, Value


def kept_by_objects(m: Machine, fact: LoopFact) -> Iterator[tuple[str, Parts, Value]]:
    """The places by their text, what goes in and how it is put together, and the containers."""
    if not isinstance(fact.node, ast.For) or fact.watched or fact.perhaps or fact.node in m.facts.mixed:
        return
    places: dict[str, list[tuple[ast.Attribute, ast.Call]]] = {}
    for statement in straight(m, fact.node.body):
        if (found := _growing(statement)) is not None:
            places.setdefault(ast.unparse(found[0]), []).append(found)
    for text, grown in places.items():
        held = m.facts.value(grown[0][0])
        if held.of("list", "dict") != held.objs or m.held(held) in WHOLE or _is_read(fact.node, text, grown):
            continue
        if m.held(held) is not Extent.MEAN and read_by_called(m, fact.node, text):
            continue
        try:
            yield text, tuple(p for _, call in grown for given in call.args for p in parts_of(m, given, text)), held
        except NotUnderstood:
            continue


def _growing(statement: ast.stmt) -> tuple[ast.Attribute, ast.Call] | None:
    """`self.log.append(row)`, `trainer.history["loss"].append(loss)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        return None
    place = call.func.value
    while isinstance(place, ast.Subscript) and isinstance(place.slice, ast.Constant):
        place = place.value
    return (place, call) if isinstance(place, ast.Attribute) and call.func.attr in ("append", "extend") else None


def _is_read(loop: ast.For, text: str, grown: list[tuple[ast.Attribute, ast.Call]]) -> bool:
    own = {place for place, _ in grown}
    return any(isinstance(n, ast.Attribute) and n not in own and ast.unparse(n) == text for n in inside(loop.body))
