"""Conditions on all samples of a batch that can be asked of shares: is there any that …, are all of them …."""

from __future__ import annotations

import ast

from nbddp.analysis.library import Shape, effect_of, entry_of
from nbddp.analysis.reading import Reading
from nbddp.analysis.syntax import qualified
from nbddp.analysis.values import Extent, alike, spread

ANY, ALL = "any_rank", "all_ranks"
OPPOSITE = {ANY: ALL, ALL: ANY}
NAMES = {"any": ANY, "isnan": ANY, "isinf": ANY, "all": ALL, "isfinite": ALL}


def quantifier(plan: Reading, test: ast.expr) -> str | None:
    """The part of the script that asks it of all ranks as one process would of all samples; None where none does."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        found = quantifier(plan, test.operand)
        return OPPOSITE[found] if found else None
    if isinstance(test, ast.BoolOp):
        wanted = ANY if isinstance(test.op, ast.Or) else ALL
        varying = [quantifier(plan, v) for v in test.values if not alike(plan.facts.value(v))]
        return varying[0] if set(varying) == {wanted} or len(varying) == 1 else None
    if isinstance(test, ast.Compare):  # `loss != loss`, which only NaN is
        same = len(test.ops) == 1 and ast.dump(test.left) == ast.dump(test.comparators[0])
        return {ast.NotEq: ANY, ast.Eq: ALL}.get(type(test.ops[0])) if same else None
    return _of_call(plan, test) if isinstance(test, ast.Call) else None


def _of_call(plan: Reading, node: ast.Call) -> str | None:
    name = qualified(node.func, plan.flow.imports)
    if name is None and isinstance(node.func, ast.Attribute):
        if node.func.attr == "item" or entry_of(node).shape is Shape.SAME:
            return quantifier(plan, node.func.value)
        return _of_each(plan, NAMES.get(node.func.attr), node.func.value) if not node.args else None
    if name in ("bool", "int", "float") and len(node.args) == 1:
        return quantifier(plan, node.args[0])
    asked = NAMES.get((name or "").rsplit(".", 1)[-1]) if len(node.args) == 1 else None
    return _of_each(plan, asked, node.args[0]) if asked else None


def _of_each(plan: Reading, asked: str | None, given: ast.expr) -> str | None:
    """Of samples, or of what is no number; not `any(loss < 0.5 for loss in losses)`: of a share these are others."""
    if asked is None or not _compares(plan, given):
        return asked
    parts = [given.elt] if isinstance(given, ast.GeneratorExp | ast.ListComp) else getattr(given, "elts", [given])
    others = [part for part in parts if not alike(plan.facts.value(part))]
    whole = all(spread(plan.facts.value(p)) is Extent.SAMPLES or quantifier(plan, p) == asked for p in others)
    return asked if whole else None


def _compares(plan: Reading, node: ast.expr) -> bool:
    """Is a number of a share compared in it, also by a method, or further up?"""
    made = (n for n in plan.bindings.made_of(node) if isinstance(n, ast.Compare | ast.Call))
    tells = (n for n in made if isinstance(n, ast.Compare) or effect_of(f".{getattr(n.func, 'attr', '')}").truth)
    return any(spread(plan.facts.value(n)) is Extent.VARYING for n in tells)
