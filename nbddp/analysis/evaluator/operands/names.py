"""Literals and names."""

from __future__ import annotations

import ast
import math
from dataclasses import replace

from nbddp.analysis.library import USUAL, exports
from nbddp.analysis.syntax import BUILTINS
from nbddp.analysis.values import ANYTHING, Extent, Machine, Value, domain, is_foreign, thing


def constant(m: Machine, node: ast.Constant) -> Value:
    number = isinstance(node.value, int) and not isinstance(node.value, bool)
    sources = frozenset[ast.AST]({node}) if number else frozenset[ast.AST]()
    if node in m.assumed.shares:
        return Value(extent=Extent.SUM, sources=sources, equal=True, size=True, number=True)
    plain = isinstance(node.value, int | float)
    return Value(const=domain.Literal.NONE if node.value is None else node.value, sources=sources, number=plain)


def named(m: Machine, node: ast.Name) -> Value:
    found = m.lookup(node.id)
    if found is not None:
        if m.context.conditions and m.facts.undefined.get(node.id) is node:
            del m.facts.undefined[node.id]  # a branch of the first turn that only later ones take
        return found
    for module in reversed(m.star_imports):
        if exports(module, node.id):
            return library(f"{module}.{node.id}")
    if node.id in USUAL and any(is_foreign(f"{module}.*") for module in m.star_imports):
        return library(USUAL[node.id])
    if node.id == "__name__":
        return Value(const="__main__")
    if node.id in BUILTINS:
        return thing("library", _SAME_PLACE, node.id)
    (m.facts.starred if m.star_imports else m.facts.undefined).setdefault(node.id, node)
    if m.star_imports and all(is_foreign(f"{module}.*") for module in m.star_imports):
        return library(f"{m.star_imports[-1]}.{node.id}")  # as if it had been asked for by name
    return ANYTHING


INFINITE = ("math.inf", "numpy.inf", "torch.inf")
_SAME_PLACE = ast.Pass()  # library names are the same wherever they are looked up


def library(name: str) -> Value:
    found = thing("library", _SAME_PLACE, name)
    return replace(found, const=math.inf) if name.lower() in INFINITE else found
