"""`class Step(torch.autograd.Function)`: what its forward gives; does its backward keep gradients in proportion?

A rank's loss is the mean over its share of a batch, so that its samples get larger gradients than in the whole batch.
The average over the ranks sets that right again, for whatever becomes as much larger on the way; not for what is
limited to some size, or divided by its norm.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from nbddp.analysis.evaluator.classes import class_member, lineage
from nbddp.analysis.library import Shape, effect_of
from nbddp.analysis.slicing import Function
from nbddp.analysis.syntax import keywords_of, walk
from nbddp.analysis.values import ANYTHING, Machine, Obj, Value

BASE, APPLY = "torch.autograd.Function", "apply"
MOVES = (Shape.ONES, Shape.ANEW, Shape.FLAT, Shape.TURNED)
NO_NUMBERS = ("shape", "dtype", "device", "ndim", "layout", "requires_grad")


def applied(m: Machine, cls: Obj, node: ast.expr) -> Value | None:
    """`Step.apply`: its forward, with a context before what it is given."""
    bases = {o.name for o in lineage(m, cls.node) if o.kind == "library"}
    forward = class_member(m, cls.node, "forward", None) if BASE in bases else None
    if forward is None:
        return None
    made = Obj("partial", node, APPLY, cls, m.frame.call)
    for place, given in enumerate((forward, ANYTHING)):
        m.put(made, f"given {place}", given)
    return Value(frozenset({made}))


def keeps_proportion(m: Machine, cls: Obj) -> bool:
    """Is what its backward gives as many times larger as what it is given?"""
    backward = class_member(m, cls.node, "backward", None) or ANYTHING
    bodies = [o.node for o in backward.of("function")]
    return all(isinstance(body, Function) and not isinstance(body, ast.Lambda) and _keeps(body) for body in bodies)


def _keeps(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    given = [*function.args.posonlyargs, *function.args.args][1:]
    more = [function.args.vararg] if function.args.vararg else []
    of_gradients = {a.arg for a in (*given, *more)}
    nodes = [*walk(function)]
    while more_names := {*_set_from(nodes, of_gradients)} - of_gradients:
        of_gradients |= more_names
    return all(_is_kept(of_gradients, n) for n in nodes if isinstance(n, ast.stmt) and n is not function)


def _set_from(nodes: Iterable[ast.AST], names: set[str]) -> Iterable[str]:
    """`g2` of `g2 = g.clone()`."""
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if _reads(names, node.value):
                yield from (n for t in targets for n in _named(t))


def _named(target: ast.expr) -> Iterator[str]:
    """`a` and `b` of `a, b[x < 0] = …`."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from (name for part in parts for name in _named(part))
        case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Starred(value=value):
            yield from _named(value)


def _reads(names: Set[str], node: ast.AST) -> bool:
    """The numbers of a gradient, and not only of which sign they are."""
    match node:
        case ast.Attribute(attr=word) if word in NO_NUMBERS:
            return False
        case ast.Compare(left=left, comparators=[ast.Constant(value=0 | None)]):
            return _reads(names, left) and not _is_proportional(names, left)
        case ast.Call(func=ast.Attribute(attr="zeros_like" | "ones_like" | "size" | "dim" | "empty_like")):
            return False
        case ast.Name(id=name):
            return name in names
    return any(_reads(names, child) for child in ast.iter_child_nodes(node))


def _is_kept(names: Set[str], node: ast.stmt) -> bool:
    match node:
        case ast.Assign(targets=targets, value=value):
            inside = [t for t in targets if isinstance(t, ast.Subscript)]
            zero = isinstance(value, ast.Constant) and value.value == 0
            plain = all(not _reads(names, t.slice) for t in inside)
            return plain and (_is_proportional(names, value) or zero or not (inside and _reads(names, inside[0].value)))
        case ast.AugAssign(target=target, op=op, value=value) if _reads(names, target):
            scaled = isinstance(op, ast.Mult | ast.Div) and not _reads(names, value)
            added = isinstance(op, ast.Add | ast.Sub) and _is_proportional(names, value)
            return (scaled or added) and not (isinstance(target, ast.Subscript) and _reads(names, target.slice))
        case ast.Return(value=ast.Tuple(elts=parts)):
            return all(_is_proportional(names, part) or not _reads(names, part) for part in parts)
        case ast.Return(value=ast.expr() as value) | ast.Expr(value=value):
            return _is_proportional(names, value) or not _reads(names, value)
        case ast.If(test=test) | ast.While(test=test):
            return not _reads(names, test)
        case ast.For(iter=test):
            return not _reads(names, test) or _is_proportional(names, test)
    return True


def _is_proportional(names: Set[str], node: ast.expr) -> bool:
    """As large as the gradient is, sample by sample."""
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Subscript(value=value, slice=index):
            return _is_proportional(names, value) and not _reads(names, index)
        case ast.UnaryOp(op=ast.USub(), operand=value) | ast.Attribute(value=value, attr="T" | "mT" | "data"):
            return _is_proportional(names, value)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            over = any(getattr(n, "attr", "") in ("sum", "mean") for n in walk(node))  # over samples, perhaps
            return not over and _is_proportional(names, left) and _is_proportional(names, right)
        case ast.BinOp(left=left, op=ast.Mult() | ast.MatMult(), right=right):
            sides = (left, right), (right, left)
            return any(_is_proportional(names, a) and not _reads(names, b) for a, b in sides)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _is_proportional(names, left) and not _reads(names, right)
        case ast.IfExp(test=test, body=body, orelse=other):
            either = ((_is_proportional(names, one) or not _reads(names, one)) for one in (body, other))
            return not _reads(names, test) and all(either)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(_is_proportional(names, part) or not _reads(names, part) for part in parts)
        case ast.Call(func=ast.Attribute(value=base, attr=word)):
            return _is_call_in_proportion(names, node, base, word)
    return False


def _is_call_in_proportion(names: Set[str], node: ast.Call, base: ast.expr, word: str) -> bool:
    """By one of what it is given, whatever the others are: `g.mm(w)`, `torch.where(x > 0, g, 0)`."""
    op, named = effect_of(f".{word}"), keywords_of(node)
    given = [base, *node.args, *named.values()]
    moving = [one for one in given if _reads(names, one)]
    if word in ("clamp", "clip", "clamp_min", "hardtanh"):
        first, *bounds = node.args if not _reads(names, base) else [base, *node.args]
        low = [*bounds[:1], *(named[k] for k in ("min",) if k in named)]
        from_zero = len(bounds) < 2 and "max" not in named and len(low) == 1 and all(map(_is_zero, low))
        return from_zero and _is_proportional(names, first)
    if word in ("where", "masked_fill"):
        filled = node.args[-2:] if word == "where" else [base, node.args[-1]]
        return moving == [f for f in filled if f in moving] and all(f in moving or _is_zero(f) for f in filled)
    known = op.proportional or op.linear or op.shape in MOVES
    return bool(known) and len(moving) == 1 and _is_proportional(names, moving[0])


def _is_zero(node: ast.expr) -> bool:
    """`0`, `torch.zeros_like(x)`."""
    return getattr(node, "value", None) == 0 or "zeros" in ast.unparse(node)
