"""What is written into an array, or handed to an object that nobody can look into, changes what it stands for."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.domain import WHOLE, Extent, Value
from nbddp.analysis.machine import Machine
from nbddp.analysis.purity import under

CHANGING = ("heapq", "bisect")  # their first argument changes


def taint(m: Machine, holder: ast.expr, extent: Extent) -> None:
    """Give a variable or a field another extent; an element of it stands for the whole."""
    while isinstance(holder, ast.Subscript):
        holder = holder.value
    if isinstance(holder, ast.Name):
        old = m.lookup(holder.id)
        if old is not None:
            m.set_plain(holder.id, replace(old, extent=extent, items=None, const=None))
    elif isinstance(holder, ast.Attribute):
        owners = m.facts.value(holder.value).objs
        for obj in owners:
            m.put(obj, holder.attr, Value(extent=extent))
        if not owners:  # `table.loc[…]`: of a thing of a library
            taint(m, holder.value, Extent.VARYING)


def write_into(m: Machine, node: ast.Call, name: str, args: list[Value], keywords: dict[str, Value]) -> None:
    """`heapq.heappush(best, loss)`, `numpy.add.at(counts, y, 1)`, `torch.add(a, b, out=a)`."""
    given = [m.held(v) for v in (*args[1:], *keywords.values())]
    if all(e in WHOLE for e in given):
        return
    out = [k.value for k in node.keywords if k.arg == "out"]
    first = node.args[:1] if under(name, CHANGING) or (name.startswith("numpy.") and name.endswith(".at")) else []
    for holder in (*out, *first):
        for obj in m.facts.value(holder).of("list", "dict"):
            m.put(obj, "[]", Value(extent=Extent.VARYING))
        if not m.facts.value(holder).objs:
            taint(m, holder, Extent.VARYING)
