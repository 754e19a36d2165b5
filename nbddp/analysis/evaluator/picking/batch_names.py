"""Whether a name is a batch, whose first dimension is that of the samples."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from nbddp.analysis.evaluator.tensors import are_rows
from nbddp.analysis.library import Samples, Shape, effect_of
from nbddp.analysis.syntax import Program, place_of, walk
from nbddp.analysis.values import Extent, Machine, spread

EACH_STAYS = (Samples.KEEPS, Samples.EACH, Samples.ALONG, Samples.WEIGHS, Samples.MOVES)


def is_a_batch(m: Machine, node: ast.Subscript) -> bool:
    """Of what a loss was given as it is: its first dimension is that of the samples, no tuple and no steps in time."""
    if not m.context.forward and is_a_tensor(m, node.value, node):
        return True
    given = m.program.handed.get(ast.unparse(node.value), ())
    before = (c for c, a in given if place_of(a) < place_of(node) and m.facts.is_loss(c))
    return any(m.program.function_of(c) is m.program.function_of(node) for c in before)


def go_one_by_one(m: Machine, loop: ast.For | ast.AsyncFor) -> bool:
    """`for i in range(x.size(0))` over a batch that a model is given as torch's own loader makes it."""
    called = m.facts.calls.get(m.frame.call) if isinstance(m.frame.call, ast.Call) else None
    if not (m.context.forward and m.context.grad and called) or called.ever_in_forward or "collate" in m.program.text:
        return False
    parts = loop.iter.args if isinstance(loop.iter, ast.Call) else [loop.iter]
    measured = [n.value for n in walk(loop.iter) if isinstance(n, ast.Attribute) and n.attr in ("size", "shape")]
    counted = any(m.facts.value(p).size for p in parts)
    tensors = measured if counted else [p for p in parts if m.facts.value(p).rank]
    return any(spread(m.facts.value(t)) is Extent.SAMPLES and are_rows(m, t) for t in tensors)


def is_a_tensor(m: Machine, node: ast.expr, at: ast.expr) -> bool:
    """What is computed is no tuple; nor is what is computed with, before, or as `x[1:] - x[:-1]`."""
    around = m.program.parents.get(at)
    apart = isinstance(around, ast.BinOp) and isinstance(around.op, ast.Sub)
    if apart and isinstance(at, ast.Subscript) and isinstance(at.slice, ast.Slice):
        return True
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("list", "tuple") and len(node.args) == 1:
        return is_a_tensor(m, node.args[0], at)
    if isinstance(node, ast.Name):
        first = _computed_with(m.program).get((m.program.function_of(at), node.id))
        return (first is not None and first < place_of(at)) or m.facts.value(node).rank is not None
    layers = m.facts.value(node.func).of("model", "submodule") if isinstance(node, ast.Call) else ()
    alone = bool(layers and all(effect_of(o.name).as_many for o in layers))
    turned = isinstance(node, ast.Attribute) and node.attr == "T"
    return alone or turned or _is_computed(node) or m.facts.value(node).rank is not None


def _is_computed(node: ast.expr) -> bool:
    """`x - y`, `x.float()`; not `x.split(2)`, which gives several."""
    op = effect_of(f".{getattr(node.func, 'attr', '')}") if isinstance(node, ast.Call) else None
    if op is None or op.shape is Shape.APART:
        return isinstance(node, ast.BinOp)
    return op.samples in EACH_STAYS and bool(op.fresh or op.shape)


@lru_cache(maxsize=4)
def _computed_with(program: Program) -> Mapping[tuple[ast.AST | None, str], tuple[int, int]]:
    """The names of a function, or of the cells, that are computed, or computed with, and where first."""
    found: dict[tuple[ast.AST | None, str], tuple[int, int]] = {}
    for node in (n for n in program.nodes if isinstance(n, ast.Name)):
        around = program.parents.get(node)
        if _computes_with(around, node) or (isinstance(around, ast.Assign) and _is_computed(around.value)):
            key = program.function_of(node), node.id
            found[key] = min(found.get(key, place_of(node)), place_of(node))
    return found


def _computes_with(around: ast.AST | None, node: ast.Name) -> bool:
    """`x - y`, `x.view(…)`."""
    keeps = isinstance(around, ast.Attribute) and effect_of(f".{around.attr}").shape is not None
    return isinstance(around, ast.BinOp) or (keeps and isinstance(around, ast.Attribute) and around.value is node)
