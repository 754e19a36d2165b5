"""How many dimensions a tensor has: by those of what it is made of, where that is known."""

from __future__ import annotations

import ast
from dataclasses import replace

from nbddp.analysis.evaluator.tensors.dimensions import DIMENSION
from nbddp.analysis.evaluator.tensors.rows import same_places
from nbddp.analysis.library import Samples, Shape, effect_of
from nbddp.analysis.values import MARKS, Extent, Literal, Machine, Rank, Value, goes_along_sequences, spread

ONE_DIMENSION = ("arange", "linspace", "randperm", "bincount")
PAIRS = ("max", "min", "median", "mode", "sort", "topk", "kthvalue", "cummax", "cummin")  # what and where
SAME = ("values", "indices", "T", "mT", "data", "grad", "real", "imag")
KEPT = ("keepdim", "keepdims")
AS_MANY = ("sort", "topk", "cummax", "cummin")
OF_ALL = (Samples.SUM, Samples.MEAN, Samples.STATISTIC)


def ranked(m: Machine, node: ast.expr, value: Value) -> Value:
    """The value of a node, whose parts have been seen, with what is known of its dimensions."""
    if value.number or value.items or not _is_tensor(value):
        return value
    found = _of(m, node, value)
    return value if found == value.rank else replace(value, rank=found)


def _is_tensor(value: Value) -> bool:
    return value.const is None and value.objs <= value.of(*MARKS, "parameter")


def _of(m: Machine, node: ast.expr, value: Value) -> Rank:
    match node:
        case ast.BinOp(left=left, right=right):
            both = [_seen(m, side) for side in (left, right)]
            return _product(*both) if isinstance(node.op, ast.MatMult) else _most(both)
        case ast.Compare(left=left, comparators=others):
            return _most([_seen(m, one) for one in (left, *others)])
        case ast.UnaryOp(operand=operand):
            return m.facts.value(operand).rank
        case ast.Subscript(value=base, slice=index):
            return _picked(m, m.facts.value(base), index, value)
        case ast.Attribute(value=base, attr=word):
            owner = m.facts.value(base)
            return value.rank if not _is_tensor(owner) else _one(owner.rank) if word in SAME else None
        case ast.Call():
            return _called(m, node, value)
        case ast.Name():
            return 1 if value.rank is None and _is_target(m, node, value) else value.rank
    return value.rank


def _one(rank: Rank) -> int | None:
    """Of what and where, both have as many."""
    return rank[0] if isinstance(rank, tuple) and len({*rank}) == 1 else rank if isinstance(rank, int) else None


def _seen(m: Machine, node: ast.expr) -> Rank:
    """Numbers go with anything."""
    value = m.facts.value(node)
    return 0 if value.number or isinstance(value.const, int | float) else value.rank


def _most(ranks: list[Rank]) -> int | None:
    known = [r for r in ranks if isinstance(r, int)]
    return max(known) if len(known) == len(ranks) else None


def _product(left: Rank, right: Rank) -> int | None:
    if not (isinstance(left, int) and isinstance(right, int)):
        return None
    return max(left, right) - (left == 1) - (right == 1)


def _picked(m: Machine, base: Value, index: ast.expr, value: Value) -> Rank:
    """`x[:, 0]`, `x[None]`, `x[a:b]`, `x[y == 1]`; of a batch of several tensors one of them."""
    if not _is_tensor(base):
        return value.rank
    at = m.facts.value(index)
    if isinstance(base.rank, tuple):
        return base.rank[at.const] if isinstance(at.const, int) and at.const in range(len(base.rank)) else None
    if base.rank is None:
        return None
    steps = [_step(m, part) for part in (index.elts if isinstance(index, ast.Tuple) else [index])]
    many = sum(m.facts.value(p).rank == 1 for p in getattr(index, "elts", []))  # which are one dimension together
    return base.rank + sum(s for s in steps if s is not None) if None not in steps and many < 2 else None


def _step(m: Machine, part: ast.expr) -> int | None:
    """How many dimensions more it makes."""
    at = m.facts.value(part)
    if isinstance(part, ast.Slice):
        return 0
    if at.const is Literal.NONE or ast.unparse(part).endswith("newaxis"):
        return 1
    if at.number or isinstance(at.const, int):
        return -1
    picks = at.rank if isinstance(at.rank, int) else None
    return None if picks is None else 1 - picks if _is_mask(m, part) else picks - 1


def _is_mask(m: Machine, part: ast.expr) -> bool:
    """`y == 1`."""
    return isinstance(part, ast.Compare | ast.UnaryOp) or bool(m.facts.value(part).of("mask"))


def _called(m: Machine, node: ast.Call, value: Value) -> Rank:
    word = getattr(node.func, "attr", "")
    if word not in PAIRS and (same := same_places(m, node)):
        return _most([_seen(m, one) for one in same])
    fact, func = m.facts.calls.get(node), m.facts.value(node.func)
    if fact is None or fact.bodies or func.of("function", "method", "class"):
        return value.rank
    if func.of("model", "submodule", "loss"):
        return _by_layer(m, node, func)
    if isinstance(node.func, ast.Attribute) and not func.objs:
        base = m.facts.value(node.func.value)
        return _by_word(m, base.rank, node.func.attr, node, node.args) if _is_tensor(base) else value.rank
    return _by_library(m, node, fact.names)


def _by_layer(m: Machine, node: ast.Call, func: Value) -> int | None:
    layers = func.of("model")
    if not layers or {o.name for o in layers} != {"torch.nn.Flatten"}:
        return None
    first = {a.value for o in layers for a in getattr(o.node, "args", ())[:1] if isinstance(a, ast.Constant)}
    return 2 if not first else 1 if first == {0} else None


def _by_library(m: Machine, node: ast.Call, names: set[str]) -> Rank:
    """`torch.randn(24, 3)`, `torch.randint(0, 9, (24,))`, `torch.arange(24)`, `torch.sum(x, 1)`."""
    if len(names) != 1 or not (name := next(iter(names))).startswith(("torch.", "numpy.")):
        return None
    if name.endswith((*ONE_DIMENSION, "eye")):
        return 2 if name.endswith("eye") else 1
    op, word = effect_of(name), name.rpartition(".")[2]
    if op.size is not None:
        return _of_sizes(m, node.args[op.size :], many=op.size == 0)
    first = m.facts.value(node.args[0]) if node.args else Value(number=True)
    if word in ("tensor", "as_tensor", "array", "asarray", "from_numpy", "Parameter", "FloatTensor", "LongTensor"):
        return first.rank if _is_tensor(first) else None
    if word == "stack" and first.of("list"):
        inner = m.elements(first).rank
        return inner + 1 if isinstance(inner, int) else None
    if word in ("cat", "concat", "concatenate", "vstack", "hstack") and first.of("list"):
        return m.elements(first).rank if word[1:] != "stack" else None
    if _is_tensor(first) and not first.number:
        return _by_word(m, first.rank, word, node, node.args[1:])
    return None


def _of_sizes(m: Machine, sizes: list[ast.expr], *, many: bool) -> int | None:
    if sizes and isinstance(sizes[0], ast.Tuple | ast.List):
        return len(sizes[0].elts)
    return len(sizes) or None if many and all(_is_number(m, s) for s in sizes) else None


def _is_number(m: Machine, node: ast.expr) -> bool:
    """`-1`, `3`, `len(x)`, `x.shape[0]`: not `x.shape`."""
    value = m.facts.value(node)
    return value.number or isinstance(value.const, int) or value.size


def _by_word(m: Machine, before: Rank, word: str, node: ast.Call, args: list[ast.expr]) -> Rank:
    op = effect_of(f".{word}")
    along = [*args, *(k.value for k in node.keywords if k.arg in DIMENSION)]
    given = [m.facts.value(a) for a in along]
    others = [k.arg for k in node.keywords if k.arg not in (*DIMENSION, *KEPT)]
    keeps = any(k.arg in KEPT for k in node.keywords)
    if op.shape is Shape.ANEW:
        return _of_sizes(m, args, many=True)
    if op.shape is Shape.FLAT:
        kept = [v.const for v in given]
        return 1 if kept in ([], [0]) else 2 if kept == [1] else None
    if not isinstance(before, int) or others:
        return 0 if op.samples in OF_ALL and not (along or others or keeps) else None
    if op.samples in OF_ALL and not along:
        return before if keeps else 0
    gone = _along(given)
    if gone is None or op.shape is Shape.TURNED:
        return before if op.shape is Shape.TURNED else None
    if word == "unsqueeze":
        return before + 1
    goes = op.samples in OF_ALL or word in ("squeeze", "select", *PAIRS, "argmax", "argmin")
    after = before if keeps or word in AS_MANY else before - (1 if word in ("select", "kthvalue") else gone)
    return None if not goes else (after, after) if word in PAIRS else after


def _along(given: list[Value]) -> int | None:
    """How many dimensions are named; None where that is not known."""
    if any(v.const is None and not v.items for v in given) or not given:
        return None
    return len(given[0].items or "1") if len(given) == 1 else 1 if all(v.number for v in given) else None


def _is_target(m: Machine, node: ast.Name, value: Value) -> bool:
    """Classes, as `F.cross_entropy(scores, y)` takes them of samples: without rows and columns of pixels."""
    if spread(value) is not Extent.SAMPLES or not isinstance(node.ctx, ast.Load):
        return False
    calls = [call for call, given in m.program.handed.get(node.id, ()) if call.args[1:2] == [given]]
    losses = (
        m.facts.calls[c].names | {o.name for o in m.facts.value(c.func).of("loss")} for c in calls if c in m.facts.calls
    )
    images = "Conv" in m.program.text
    return not (images or goes_along_sequences(m)) and any(
        effect_of(name).by_class for names in losses for name in names
    )
