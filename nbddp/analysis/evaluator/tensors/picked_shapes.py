"""What picking from a tensor, or from a table of pandas, leaves of its shape."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from nbddp.analysis.evaluator.tensors.dimensions import samples_at
from nbddp.analysis.evaluator.tensors.many import sizes_of
from nbddp.analysis.values import MARKS, PLACES, Dimensions, Literal, Machine, Several, Sizes, Value


def is_tensor(value: Value) -> bool:
    """And no number, no list, no thing."""
    plain = value.const is None or (value.const == 0 and not value.number)
    return plain and not value.items and value.objs <= value.of(*MARKS, PLACES, "parameter")


def shape_of_picked(m: Machine, base: Value, index: ast.expr, value: Value) -> Dimensions:
    """`x[:, 0]`, `x[None]`, `x[a:b]`, `x[y == 1]`; of a batch of several tensors one of them."""
    if not is_tensor(base):
        return value.shape
    shape = sizes_of(m, base)
    if isinstance(shape, Several):
        at = m.facts.value(index).const
        return shape.of[at] if isinstance(at, int) and at in range(len(shape.of)) else None
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if shape is not None and isinstance(base.shape, tuple) and _names_columns(m, index):
        return shape[:1] if isinstance(m.facts.value(index).const, str) else (*shape[:1], None)
    many = [p for p in parts if m.facts.value(p).rank]  # which become one dimension together
    if len(many) > 1 and parts == many and all(m.facts.value(p).rank == 1 for p in many):  # `x[rows, classes]`
        return shape and (None, *shape[len(many) :])
    if shape is None or len(many) > 1 or any(isinstance(p, ast.Constant) and p.value is ... for p in parts[1:-1]):
        return None
    if value.varies and any(isinstance(m.facts.value(p).const, int) for p in parts[samples_at(base) :][:1]):
        return None  # one sample, or one of another dimension than is thought
    if isinstance(parts[0], ast.Constant) and parts[0].value is ...:
        found = _steps(m, shape[::-1], parts[:0:-1])
        return found and found[::-1]
    last = isinstance(parts[-1], ast.Constant) and parts[-1].value is ...
    return _steps(m, shape, parts[:-1] if last else parts)


def _names_columns(m: Machine, index: ast.expr) -> bool:
    """`table["price"]`, `table[["price", "rooms"]]`; also of a batch that is a dictionary, whose shape is not known."""
    listed = index.elts if isinstance(index, ast.List) else []
    return any(isinstance(m.facts.value(one).const, str) for one in (index, *listed[:1]))


def _steps(m: Machine, shape: Sizes, parts: Sequence[ast.expr]) -> Sizes | None:
    """What is left of the first dimensions, and the others."""
    found: list[int | None] = []
    left = list(shape)
    for part in parts:
        at = m.facts.value(part)
        if at.const is Literal.NONE or ast.unparse(part).endswith("newaxis"):
            found.append(1)
        elif not left:
            return None
        elif isinstance(part, ast.Slice):
            found.append(_cut(m, left.pop(0), part))
        elif at.number or isinstance(at.const, int) or (isinstance(at.const, str) and found):  # `table.loc[:, "price"]`
            left.pop(0)
        elif isinstance(part, ast.List) or at.of("list"):
            left.pop(0)
            found.append(len(part.elts) if isinstance(part, ast.List) else None)
        elif not isinstance(sizes := sizes_of(m, at), tuple):
            return None
        else:
            mask = isinstance(part, ast.Compare | ast.UnaryOp)
            left = left[len(sizes) if mask else 1 :]
            found.extend((None,) if mask else sizes)
    return (*found, *left)


def _cut(m: Machine, size: int | None, at: ast.Slice) -> int | None:
    """What `a:b` leaves; of a dimension of any size `:1` leaves one."""
    bounds = [m.facts.value(b).const if b else None for b in (at.lower, at.upper, at.step)]
    if not all(isinstance(c, int) or b is None for c, b in zip(bounds, (at.lower, at.upper, at.step), strict=True)):
        return None
    known = size if size is not None else 1 if bounds in ([None, 1, None], [0, 1, None]) else None
    numbers = [c if isinstance(c, int) else None for c in bounds]
    return size if numbers == [None] * 3 else None if known is None else len(range(known)[slice(*numbers)])
