"""What says of each sample whether something holds for it: it picks the same samples out of a part of them."""

from __future__ import annotations

import ast

from nbddp.analysis.library import Shape, entry_of
from nbddp.analysis.reading import Reading

KEEPING = (Shape.SAME, Shape.ONES, Shape.ANEW, Shape.FLAT)
DEPTH = 8


def is_mask(plan: Reading, node: ast.expr, depth: int = DEPTH) -> bool:
    """No places of samples: `out[train_mask]`, not `out[train_idx]`."""
    made = [*plan.bindings.made_by(node)] if depth else []
    return bool(made) and all(_holds(plan, n, depth - 1) for n in made)


def _holds(plan: Reading, node: ast.expr, depth: int) -> bool:
    match node:
        case ast.Compare():
            return True
        case ast.UnaryOp(op=ast.Invert() | ast.Not(), operand=inner) | ast.Subscript(value=inner):
            return is_mask(plan, inner, depth)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return is_mask(plan, left, depth) and is_mask(plan, right, depth)
        case ast.Call(func=ast.Attribute(value=inner)):
            given, op = [*node.args, *(k.value for k in node.keywords if k.arg == "dtype")], entry_of(node)
            truth = op.truth or any(ast.unparse(g) in ("bool", "torch.bool", "np.bool_") for g in given)
            return truth or (op.shape in KEEPING and is_mask(plan, inner, depth))
    return False
