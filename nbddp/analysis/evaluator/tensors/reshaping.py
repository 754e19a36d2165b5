"""What a method or a function makes of the shape of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from nbddp.analysis.evaluator.tensors.dimensions import DIMENSION
from nbddp.analysis.evaluator.tensors.many import sizes_of
from nbddp.analysis.evaluator.tensors.operations import axes_of
from nbddp.analysis.library import Samples, Shape, effect_of
from nbddp.analysis.syntax import keywords_of
from nbddp.analysis.values import Dimensions, Machine, Several, Sizes, Value

OF_NO_SIZE = ("ord", "p", "dtype", "correction", "unbiased")  # keywords that change the numbers alone
PAIRS = ("max", "min", "median", "mode", "sort", "topk", "kthvalue", "cummax", "cummin")  # what and where
KEPT = ("keepdim", "keepdims")
AS_MANY = ("sort", "topk", "cummax", "cummin")
OF_ALL = (Samples.SUM, Samples.MEAN, Samples.STATISTIC)
REDUCES = ("logsumexp", "cosine_similarity", "pairwise_distance", "kthvalue", "argmax", "argmin", "median", "mode")


def reshaped(m: Machine, before: Sizes | None, word: str, node: ast.Call, args: Sequence[ast.expr]) -> Dimensions:
    """`x.view(8, -1)`, `x.sum(1)`, `x.unsqueeze(-1)`, `x.max(1)`; of a function the arguments behind the tensor."""
    op, named = effect_of(f".{word}"), keywords_of(node)
    along = [*args[op.dim or 0 :], *(named[k] for k in DIMENSION if k in named)]
    given = [m.facts.value(a) for a in along]
    if op.shape is Shape.ANEW:
        return anew(m, word, before, args)
    if word == "repeat" and (many := len(anew(m, word, before, args) or ())) > 1:
        return (None,) * max(many, len(before or ()))
    if op.shape is Shape.FLAT:
        return _flat(before, [v.const for v in given])
    if set(named) - {*DIMENSION, *KEPT, *OF_NO_SIZE}:
        return None
    kept = [m.facts.value(named[k]).const for k in KEPT if k in named]
    keeps = any(const is not False for const in kept)
    if op.samples in OF_ALL and not along:
        return () if not keeps else None if before is None else (1,) * len(before)
    if before is None or word in AS_MANY:
        return before and Several(((None,) * len(before),) * 2)
    if word == "t":
        return before[::-1]
    if word == "squeeze" and not along:
        return tuple(s for s in before if s != 1) if None not in before[1:] else None
    places = _places(given, len(before) + (word == "unsqueeze"))
    return None if places is None else _along(before, word, op.shape, op.samples, places, keeps)


def _along(
    before: Sizes, word: str, shape: Shape | None, samples: Samples | None, at: list[int], keeps: bool
) -> Dimensions:
    if shape is Shape.TURNED:
        return _turned(before, word, at)
    if word == "unsqueeze":
        return (*before[: at[0]], 1, *before[at[0] :])
    if word == "squeeze":
        return tuple(s for i, s in enumerate(before) if i != at[0] or s not in (1, None)) if before[at[0]] else None
    if word == "select":
        return tuple(s for i, s in enumerate(before) if i != at[0])
    if samples not in OF_ALL and word not in REDUCES:
        return None
    after = tuple(1 if i in at else s for i, s in enumerate(before) if keeps or i not in at)
    return Several((after, after)) if word in PAIRS and len(at) == 1 else after


def _places(given: Sequence[Value], many: int) -> list[int] | None:
    """The dimensions that are named, from the first; None where they are not known."""
    values = [part.const for v in given for part in v.items or (v,)]
    numbers = [c for c in values if isinstance(c, int) and not isinstance(c, bool)]
    found = [c + many if c < 0 else c for c in numbers]
    return found if found and len(found) == len(values) and all(i in range(many) for i in found) else None


def _turned(before: Sizes, word: str, at: list[int]) -> Sizes:
    if word == "permute" and sorted(at) == [*range(len(before))]:
        return tuple(before[i] for i in at)
    swaps = word in ("transpose", "swapaxes", "swapdims") and len(at) == 2
    other = {at[0]: at[1], at[1]: at[0]} if swaps else {}
    return tuple(before[other.get(i, i)] if swaps else None for i in range(len(before)))


def _flat(before: Sizes | None, given: list[object]) -> Sizes | None:
    if given in ([], [0]):
        return (None,)
    if not isinstance(first := given[0], int) or len(given) > 1 or first < 0:
        return None
    return (*(before[:first] if before else (None,) * first), None)


def renamed(before: Sizes | None, pattern: object) -> Sizes | None:
    """Of `"b (h w) c -> b c h w"` as many as it names; a size that has kept its name is as it was."""
    first, then = axes_of(pattern)
    known = dict(zip(first, before, strict=True)) if before is not None and len(before) == len(first) else {}
    return tuple(known.get(axis, None if axis else 1) for axis in then) if then and "..." not in then else None


def anew(m: Machine, word: str, before: Sizes | None, args: Sequence[ast.expr]) -> Sizes | None:
    """`x.view(-1, 3)`, `x.expand(8, -1)`, `torch.zeros((2, 3))`; `x.view_as(y)`."""
    if word.endswith("_as") and len(args) == 1:
        other = sizes_of(m, m.facts.value(args[0]))
        return other if isinstance(other, tuple) else None
    listed = bool(args) and isinstance(args[0], ast.Tuple | ast.List)
    sizes = args[0].elts if args and isinstance(args[0], ast.Tuple | ast.List) else args
    values = [m.facts.value(s) for s in sizes]
    if any(isinstance(s, ast.Starred) for s in sizes):
        return None
    if not values or not (listed or all(v.number or isinstance(v.const, int) or v.size for v in values)):
        return None
    return tuple(v.const if isinstance(v.const, int) and v.const > 0 and not v.varies else None for v in values)
