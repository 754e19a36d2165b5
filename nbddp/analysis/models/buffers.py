"""What a model keeps of the samples that it has seen: running means, codebooks, memories, in buffers or fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbddp.analysis.reading import Reading, may_hold_batch_norm
from nbddp.analysis.syntax import walk
from nbddp.analysis.values import Extent, spread


def kept_of_shares(plan: Reading) -> Iterator[ast.stmt]:
    """Statements by which a buffer of a model is changed by what differs between ranks."""
    names = {name for part in plan.nodes() if (name := _registered(part)) or (name := _carried(plan, part))}
    for node in (n for n in plan.nodes() if names and isinstance(n, ast.stmt)):
        place = _buffer(_changed(node), names)
        made = getattr(plan.program.function_of(node), "name", "") == "__init__"
        of_a_model = place is not None and plan.facts.value(place.value).of("model", "submodule")
        if of_a_model and not made and any(plan.facts.value(v).varies for v in _given(node)):
            yield node


def _registered(node: ast.AST) -> str | None:
    """`self.register_buffer("mean", torch.zeros(4))`, `model.register_buffer(…)`."""
    match node:
        case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=str(name)), *_]):
            return name
    return None


def _carried(plan: Reading, node: ast.AST) -> str | None:
    """`self.top = torch.maximum(self.top, x.abs().max())` in a forward: in no buffer, and carried on all the same."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name) as target], value=value):
            before = any(isinstance(n, ast.Attribute) and ast.unparse(n) == ast.unparse(target) for n in walk(value))
            forward = getattr(plan.program.function_of(node), "name", "") == "forward"
            made = plan.facts.value(value)
            differs = spread(made) is Extent.VARYING or (made.varies and bool(made.of("parameter")))
            return name if before and forward and differs else None
    return None


def _changed(statement: ast.stmt) -> ast.expr | None:
    """`self.mean = …`, `self.mean[i] += …`, `self.mean.mul_(0.9).add_(…)`."""
    match statement:
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            return target
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=word, value=target))) if word.endswith("_"):
            return target
    return None


def _buffer(node: ast.expr | None, names: set[str]) -> ast.Attribute | None:
    """The buffer that the place is a part of."""
    match node:
        case ast.Attribute(attr=name) if name in names:
            return node
        case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=ast.Attribute(value=inner)):
            return _buffer(inner, names)
    return None


def _given(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.Assign | ast.AugAssign):
        yield statement.value
    elif isinstance(statement, ast.Expr):
        for call in (n for n in walk(statement.value) if isinstance(n, ast.Call)):
            yield from call.args
            yield from (k.value for k in call.keywords)


def synchronises(plan: Reading) -> bool:
    """Is a BatchNorm to be that of all ranks' samples: asked for, or needed where every number is to be exact?"""
    exact = plan.options.exact and any(may_hold_batch_norm(plan, model.obj) for model in plan.roles.models)
    return bool(plan.options.sync_batchnorm or exact)
