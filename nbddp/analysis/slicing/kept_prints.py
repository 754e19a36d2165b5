"""Prints between the statements that are kept: what they show of these is what one reads in the log of a run."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.slicing.effects import displays_only
from nbddp.analysis.slicing.gradients import gives, reads_gradients
from nbddp.analysis.slicing.slice import Flow, Slice
from nbddp.analysis.syntax import walk

FUNCTIONS = frozenset("len round str int float type repr format abs".split())
METHODS = frozenset(
    """
    size dim numel nelement item parameters named_parameters children named_children modules buffers items keys values
    format join upper lower title strip split replace is_available device_count
    """.split()
)
LAYOUT = frozenset({"sep", "end", "flush"})
Display = ast.JoinedStr | ast.FormattedValue | ast.Tuple | ast.List | ast.Set | ast.Dict
Operation = ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.IfExp
Plain = Operation | Display | ast.Attribute | ast.Constant | ast.Name
OF_A_SHARE = frozenset({"batch_size", "sampler", "batch_sampler"})  # of a loader, on several processes


def with_prints(flow: Flow, found: Slice) -> Slice:
    """The slice with those prints in it that need nothing else and cost nothing."""
    kept = set(found.kept)
    prints = {i for i in found.dropped if i < max(kept, default=0) and _shows_kept(flow, i, kept)}
    left = {i: reason for i, reason in found.dropped.items() if i not in prints}
    return replace(found, kept=tuple(sorted(kept | prints)), dropped=left)


def _shows_kept(flow: Flow, index: int, kept: set[int]) -> bool:
    statement, found = flow.program.statements[index], flow.effects[index]
    call = statement.node.value if isinstance(statement.node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != "print":
        return False
    if not displays_only(statement.node, found, flow.imports) or flow.binder_before("print", index) is not None:
        return False
    if {k.arg for k in call.keywords} - LAYOUT or not all(_is_cheap(flow, a, index) for a in call.args):
        return False
    if reads_gradients(statement.node) and any(
        gives(flow.program.statements[i].node) for i in range(index) if i not in kept
    ):
        return False
    names = {n for n in found.reads if flow.binder_before(n, index) is not None}
    made = [flow.program.statements[i].node for n in names for i in kept if n in flow.effects[i].may_bind]
    values = any(not isinstance(node, ast.Import | ast.ImportFrom) for node in made)
    return values and all(_is_as_kept(flow, name, index, kept) for name in names)


def _is_as_kept(flow: Flow, name: str, index: int, kept: set[int]) -> bool:
    """Is all kept that the name is bound to and that changes it, back to where it surely got its value?"""
    for at in reversed(range(index)):
        found = flow.effects[at]
        if name in found.binds | found.may_bind | flow.touched[at] and at not in kept:
            return False
        if name in found.binds:
            return True
    return False


def _own_methods(flow: Flow) -> set[str]:
    classes = (n for n in flow.program.nodes if isinstance(n, ast.ClassDef))
    return {s.name for c in classes for s in walk(c) if isinstance(s, ast.FunctionDef)}


def _is_cheap(flow: Flow, node: ast.expr, index: int) -> bool:
    """Names, numbers and texts of them; how many there are."""
    parts = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr | ast.keyword)]
    match node:
        case ast.Call(func=ast.Name(id=name)):
            one = name == "sum" and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp)
            known = (name in FUNCTIONS or one) and flow.binder_before(name, index) is None
        case ast.Call(func=ast.Attribute(attr=name)):
            known = name in METHODS and name not in _own_methods(flow)
        case ast.Attribute(attr=name):
            known = name not in OF_A_SHARE
        case ast.Subscript(value=value, slice=ast.Constant(value=key)):  # a sample of a data set may be drawn
            known = isinstance(key, str) or (isinstance(value, ast.Attribute) and value.attr == "shape")
        case ast.GeneratorExp(elt=elt, generators=[ast.comprehension(iter=ast.Call() as drawn, ifs=tests)]):
            known, parts = isinstance(drawn.func, ast.Attribute), [elt, drawn, *tests]
        case _:
            known = isinstance(node, Plain)
    given = (p.value if isinstance(p, ast.keyword) else p for p in parts)
    return known and all(_is_cheap(flow, part, index) for part in given)
