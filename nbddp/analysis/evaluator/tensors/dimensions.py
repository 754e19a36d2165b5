"""Which dimension counts the samples, and which one an operation goes through."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from nbddp.analysis.library import Samples, Shape, effect_of
from nbddp.analysis.values import (
    ANYTHING,
    FLAT,
    LINE,
    TURNED,
    Args,
    AsMany,
    Extent,
    Keywords,
    Literal,
    Machine,
    Place,
    Value,
    spread,
)

DIMENSION = ("dim", "axis", "dims")
IMPLICITLY_FIRST = 3  # dimensions in which `softmax()` goes through the first, where none is asked for
IN_ORDER = ("dim", "axis", "dims", "axes", "dim0", "dim1", "axis0", "axis1", "axis2", "source", "destination", "index")
NOTHING = Value(const=Literal.NONE)


def over_samples(base: Value, along: Value) -> bool:
    """Is the dimension gone through that counts the samples, or all of them?"""
    return along is ANYTHING or bool(counting(base) & {*places_of(along)})


def counting(base: Value) -> set[object]:
    """The dimension of the samples; in a LINE it is the last one too."""
    return {samples_at(base), *([-1] if base.of(LINE) else [])}


def places_of(along: Value) -> list[object]:
    """`0`, `(0, 1)`, `[0, 1]`."""
    written = (e for obj in along.of("list") for e in getattr(obj.node, "elts", ()))
    items = (item.const for item in along.items or ())
    return [along.const, *items, *(e.value for e in written if isinstance(e, ast.Constant))]


def at_times(m: Machine, base: Value, along: Value) -> bool:
    """`dim = 0 if x.ndim == 2 else (0, 1)`: not known here, and the first one in a branch, or of `for dim in range(2)`.

    Also `-2` where rows are samples.

    In a model the last two dimensions are mostly those of an image, or of a sequence.
    """
    numbers = [*map(_lowest, along.sources)]
    unknown = along.const is None and along.items is None and samples_at(base) in numbers
    return unknown or (-2 in places_of(along) and not m.context.forward and not (base.of(TURNED) and base.of(LINE)))


def _lowest(source: ast.AST) -> object:
    """A number as it is written; of `range(n)`, and of a bar around it, the one that it begins with."""
    while isinstance(source, ast.Call) and source.args and isinstance(source.args[0], ast.Call):
        source = source.args[0]
    if isinstance(source, ast.Call):
        return getattr(source.args[0], "value", None) if len(source.args) > 1 else 0
    return source.value if isinstance(source, ast.Constant) else None


def samples_at(value: Value) -> int:
    """The dimension that counts the samples of a batch."""
    return 1 if value.of(TURNED) else 0


def from_the_last(value: Value) -> Place:
    """Which dimension counts the samples, the last being 1; None where that is not known, or time is in it too."""
    if spread(value) is not Extent.SAMPLES or value.of(FLAT):
        return None
    if value.rank is not None:
        return value.rank - samples_at(value)
    if value.of(LINE):
        return 1
    return (value.shape.of, value.shape.more - samples_at(value)) if isinstance(value.shape, AsMany) else None


def along_of(word: str, args: Sequence[Value], keywords: Keywords) -> Value:
    """The dimension that is asked for; ANYTHING where none is."""
    place = effect_of(f".{word}").dim or 0
    named = next((keywords[k] for k in DIMENSION if k in keywords), None)
    return named or (args[place] if len(args) > place else ANYTHING)


def each_for_itself(m: Machine, word: str, base: Value, args: Sequence[Value], keywords: Keywords) -> bool:
    """Is a sample's result made of this sample alone: along another dimension than that of the samples?"""
    op, along = effect_of(f".{word}"), along_of(word, args, keywords)
    if along is ANYTHING or along.const is Literal.NONE:  # of each class, the highest
        last = bool(op.last) or (word == "topk" and bool(args) and args[0].const == 1)
        return last and not base.of(LINE, TURNED)
    return not over_samples(base, along) and not at_times(m, base, along)


def counted(word: str, base: Value, args: Args, keywords: Keywords) -> tuple[Args, Keywords]:
    """`labels.sort(-1)`, `x.transpose(-1, -2)`: the dimensions that are asked for, from the first where known."""
    op, known = effect_of(f".{word}"), base.rank
    if op.shape in (Shape.ONES, Shape.TURNED):  # `x.unsqueeze(dim=0)`
        named = [k for k in IN_ORDER if k in keywords]
        args = [*args, *(keywords[k] for k in named)]
        keywords = {k: v for k, v in keywords.items() if k not in named}
    if spread(base) is not Extent.SAMPLES or known is None:
        return args, keywords
    turns, place = op.shape is Shape.TURNED, op.dim or 0
    asked = [i for i, v in enumerate(args) if _is_negative(v) and (turns or i == place)]
    named = [k for k in DIMENSION if k in keywords and _is_negative(keywords[k])]
    no_dim = bool(op.last) and len(args) <= place and not any(k in keywords for k in DIMENSION)  # `F.softmax(x)`
    if no_dim and (known == 1 or (known == IMPLICITLY_FIRST and op.samples is Samples.WEIGHS)):
        return args, {**keywords, "dim": Value(const=0)}
    if word in ("unsqueeze", "expand_dims"):  # one more than there were
        return [_from_first(v, known + 1) if i in asked else v for i, v in enumerate(args)], keywords
    if not (op.over or turns or op.shape is Shape.APART or word in ("select", "unbind")):
        return args, keywords
    first = [_from_first(v, known) if i in asked else v for i, v in enumerate(args)]
    return first, {k: _from_first(v, known) if k in named else v for k, v in keywords.items()}


def _is_negative(value: Value) -> bool:
    return isinstance(value.const, int) and value.const < 0


def _from_first(value: Value, known: int) -> Value:
    assert isinstance(value.const, int)
    return replace(value, const=known + value.const)
