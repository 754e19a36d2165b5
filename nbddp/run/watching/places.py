"""Where in a script the watch points are: at their own places, or, where it was changed by hand, at the same text."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from nbddp.watch_points import Watch, WatchPoint

Found = tuple[ast.stmt, tuple[Watch, ...]]


def found_in(tree: ast.Module, text: str, points: Iterable[WatchPoint]) -> tuple[list[Found], int]:
    """Statements with all that is watched there, in no order; and how many points have no place any more."""
    lines, lost = text.split("\n"), 0
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    by_place = {(s.lineno, s.col_offset): s for s in statements}
    found: dict[int, tuple[ast.stmt, list[Watch]]] = {}
    for point in points:
        statement = by_place.get((point.line, point.column))
        if statement is None or lines[statement.lineno - 1].strip() != point.source:
            statement = _of_the_same_text(statements, lines, point)
            if statement is not None and not _can_be_read(tree, point.watch):
                statement = None
        if statement is None:
            lost += 1
        else:
            found.setdefault(id(statement), (statement, []))[1].append(point.watch)
    return [(statement, tuple(watches)) for statement, watches in found.values()], lost


def _of_the_same_text(statements: list[ast.stmt], lines: list[str], point: WatchPoint) -> ast.stmt | None:
    """The only one whose line reads so."""
    alike = [s for s in statements if lines[s.lineno - 1].strip() == point.source]
    first = [s for s in alike if not lines[s.lineno - 1].encode()[: s.col_offset].strip()]
    return first[0] if len(first) == 1 else None


def _can_be_read(tree: ast.Module, watch: Watch) -> bool:
    """Does the script still have all the names that would be looked at?"""
    known = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | set(dir(builtins))
    known |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    return {name for text in expressions(watch) for name in names_of(text)} <= known


def expressions(watch: Watch) -> Iterator[str]:
    yield from (text for pairs in (watch.values, watch.state, watch.things) for _, text in pairs)
    yield from (*watch.carried, *(text for text, _ in watch.so_far))
    yield from (text for text in (watch.batches, watch.counter) if text)


def names_of(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
