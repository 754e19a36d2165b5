"""Rows that a step writes out, keeps and perhaps shows: `row = {"loss": loss}; log.append(row); print(row)`."""

from __future__ import annotations

import ast

from nbddp.analysis.combining.filled_by_callees import read_by_called
from nbddp.analysis.combining.outputs import lets_out
from nbddp.analysis.slicing import inside
from nbddp.analysis.syntax import blocks_around
from nbddp.analysis.values import Extent, Machine

Loops = ast.For | ast.AsyncFor | ast.While


def is_row(m: Machine, node: ast.expr) -> bool:
    value = m.facts.value(node)
    return isinstance(node, ast.Name) and bool(value.items or value.of("list", "dict"))


def written_into(m: Machine, row: ast.Name) -> list[ast.expr] | None:
    """What it was made of, where each rank has made it so, and nothing reads a part of it before it is kept.

    What goes into it can be put together there; then all who are given it find the same.
    """
    loop = next((a for a in m.program.ancestors(row) if isinstance(a, Loops)), None)
    if loop is None or read_by_called(m, loop, row.id):
        return None
    places = [n for n in inside(loop.body) if isinstance(n, ast.Name) and n.id == row.id]
    bound = [m.program.parents[n] for n in places if isinstance(n.ctx, ast.Store)]
    made = bound[0].value if len(bound) == 1 and isinstance(bound[0], ast.Assign) else None
    if made is None or not _is_written_out(made):
        return None
    found, reads = [made] if _has_parts(made) else [], []
    for place in places:
        put = _put(m, place)
        if put is not None:
            found.append(put)
        elif isinstance(place.ctx, ast.Load):
            reads.append(place)
    alone = isinstance(made, ast.Tuple)  # its items are known by its name, and there only
    allowed = all(r is row or (not alone and _is_given(m, r)) for r in reads)
    return found if allowed and all(_beside(m, f, row) for f in found) else None


def kept_whole(m: Machine, row: ast.Name) -> bool:
    """May it be put together as it is kept? Means of what is the same on all ranks are what they were."""
    around = next((a for a in m.program.ancestors(row) if isinstance(a, Loops)), m.program.parents[row])
    names = (n for n in ast.walk(around) if isinstance(n, ast.Name) and n.id == row.id and isinstance(n.ctx, ast.Load))
    return m.held(m.facts.value(row)) is Extent.MEAN and all(n is row for n in names)


def _is_written_out(made: ast.expr) -> bool:
    if isinstance(made, ast.Call):
        return ast.unparse(made.func) == "dict" and not made.args and all(k.arg for k in made.keywords)
    if isinstance(made, ast.Dict):
        return None not in made.keys
    return isinstance(made, ast.List | ast.Tuple) and not any(isinstance(e, ast.Starred) for e in made.elts)


def _has_parts(made: ast.expr) -> bool:
    return ast.unparse(made) not in ("{}", "[]", "()", "dict()")


def _put(m: Machine, place: ast.Name) -> ast.expr | None:
    """`loss` of `row["loss"] = loss`."""
    item = m.program.parents[place]
    statement = m.program.parents[item]
    into = isinstance(item, ast.Subscript) and isinstance(statement, ast.Assign) and statement.targets == [item]
    return statement.value if into and isinstance(statement, ast.Assign) else None


def _is_given(m: Machine, read: ast.Name) -> bool:
    """As a whole, to what shows it, or to what keeps it."""
    call = m.program.parents[read]
    fact = m.facts.calls.get(call) if isinstance(call, ast.Call) else None
    return fact is not None and (lets_out(fact) or _keeps(fact.node))


def _keeps(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "append"


def _beside(m: Machine, node: ast.AST, other: ast.AST) -> bool:
    return blocks_around(m.program, node) == blocks_around(m.program, other)
