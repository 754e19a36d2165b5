"""What is written into an array, or handed to an object that nobody can look into, changes what it stands for."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.domain import Extent, Value
from nbddp.analysis.machine import Machine


def taint(m: Machine, holder: ast.expr, extent: Extent) -> None:
    """Give a variable or a field another extent; an element of it stands for the whole."""
    while isinstance(holder, ast.Subscript):
        holder = holder.value
    if isinstance(holder, ast.Name):
        old = m.lookup(holder.id)
        if old is not None:
            m.set_plain(holder.id, replace(old, extent=extent, items=None, const=None))
    elif isinstance(holder, ast.Attribute):
        for obj in m.facts.value(holder.value).objs:
            m.put(obj, holder.attr, Value(extent=extent))
