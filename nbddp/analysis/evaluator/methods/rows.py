"""Rows that are written outside of the loops over batches."""

from __future__ import annotations

import ast

from nbddp.analysis.values import WHOLE, Extent, Machine, Value, spread


def goes_together(m: Machine, node: ast.Call, value: Value) -> bool:
    """`history.append(total / n)` outside of the loops over batches: the script puts that number together there."""
    fact = m.facts.calls[node]
    if getattr(node.func, "attr", "") != "append" or not node.args or isinstance(node.args[-1], ast.JoinedStr):
        return False
    if fact.varying_control or fact.ever_in_forward or m.sharing():
        return False
    known = [m.facts.loops[loop] for loop in fact.loops if loop in m.facts.loops]
    if any(f.loaders or m.facts.draws_itself(f) for f in known):
        return False
    extents = {spread(part) for part in _parts_written(m, node.args[-1], value)} - {*WHOLE}
    return bool(extents) and extents <= {Extent.MEAN, Extent.SUM}


def _parts_written(m: Machine, node: ast.expr, value: Value) -> list[Value]:
    """Of a row that is written there, each number is combined for itself: `(epoch, total / n)`."""
    match node:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return [m.facts.value(part) for part in parts]
    return [value] if value.items is None else []
