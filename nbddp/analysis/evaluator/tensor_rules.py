"""What sets the samples of a batch against each other, or takes some of them: a rank sees only those of its share."""

from __future__ import annotations

import ast
from collections.abc import Sequence, Set
from dataclasses import replace
from functools import reduce

from nbddp.analysis.library import Samples, Shape, effect_of
from nbddp.analysis.values import (
    ANYTHING,
    FLAT,
    LINE,
    MARKS,
    MOVED,
    OPERATORS,
    PICKED,
    SHUFFLED,
    STATISTIC,
    TURNED,
    WEIGHTED,
    WHOLE,
    Extent,
    Literal,
    Machine,
    Value,
    averaged,
    binary,
    elementwise,
    join_extent,
    marked,
    placed,
    product,
    spread,
    summed,
    turned,
)

Args = list[Value]
Keywords = dict[str, Value]
DIMENSION = ("dim", "axis", "dims")
SWAPS = ("transpose", "swapaxes", "swapdims", "movedim", "moveaxis")
PRODUCTS = ("mm", "matmul")
TOTALS = {Samples.SUM: summed, Samples.MEAN: averaged}
NOTHING = Value(const=Literal.NONE)


def _over_samples(base: Value, args: Args, keywords: Keywords) -> bool:
    """Is the first dimension, that of the samples, gone through?"""
    along = args[0] if args else _along(keywords)
    return along is ANYTHING or 0 in _places(along) or bool(base.of(LINE) and -1 in _places(along))


def _places(along: Value) -> list[object]:
    """`0`, `(0, 1)`, `[0, 1]`."""
    written = (e for obj in along.of("list") for e in getattr(obj.node, "elts", ()))
    items = (item.const for item in along.items or ())
    return [along.const, *items, *(e.value for e in written if isinstance(e, ast.Constant))]


def _at_times(m: Machine, along: Value) -> bool:
    """`dim = 0 if x.ndim == 2 else (0, 1)`: not known here, and the first one in a branch; `-2` where rows are samples.

    In a model the last two dimensions are mostly those of an image, or of a sequence.
    """
    numbers = [s.value for s in along.sources if isinstance(s, ast.Constant)]
    unknown = along.const is None and along.items is None and 0 in numbers
    return unknown or (along.const == -2 and not m.context.forward)


def of_size(sizes: Set[Extent]) -> Extent:
    """Of `torch.zeros(len(x), 3)`: what is as large as a share has a place for each of its samples."""
    counted = sizes <= {*WHOLE, Extent.SUM}
    return Extent.SAMPLES if counted and Extent.SUM in sizes else reduce(join_extent, sizes, Extent.UNIFORM)


def of_samples(
    m: Machine, base: Value, word: str, args: Args, keywords: Keywords, done: Samples | None
) -> Value | None:
    """`x.std(0)`, `torch.topk(losses, 8)`, `mask.sum()`, by what is done to samples; None where that is nothing."""
    extent = spread(base)
    if (done is Samples.STATISTIC and base.varies) or (done is Samples.ORDERS and extent is Extent.SAMPLES):
        of_all = _of_all(m, word, base, args, keywords)
        return marked(of_all, PICKED) if word in ("topk", "kthvalue") and of_all.of(STATISTIC) else of_all
    if done is Samples.COUNT:
        return m.size(base) if extent is Extent.SAMPLES else Value(number=True)
    if extent is not Extent.SAMPLES:
        kept = Value(base.objs - base.of("shape"), extent, base.items, base.const) if done in TOTALS else None
        return Value(extent=elementwise([base])) if word == "count_nonzero" else kept
    if (
        base.of(TURNED, FLAT)
        and (found := _placed(word, base, args, keywords, done, forward=m.context.forward)) is not None
    ):
        return found
    along = done is Samples.ALONG and not m.context.forward and not _each_for_itself(m, word, base, args, keywords)
    paired = done is Samples.PAIRS and any(spread(a) is Extent.SAMPLES for a in args[:1])
    if done is Samples.MOVES and not m.context.forward and not _each_for_itself(m, word, base, args, keywords):
        return marked(Value(extent=extent), MOVED, SHUFFLED)
    if along or paired or done is Samples.MIXES:  # in a model the first dimension may be that of time
        return Value(extent=Extent.VARYING)
    if done in TOTALS and _at_times(m, args[0] if args else _along(keywords)):
        return marked(Value(extent=Extent.VARYING), STATISTIC)
    if done in TOTALS:
        return Value(extent=TOTALS[done](base) if _over_samples(base, args, keywords) else extent)
    if done is Samples.WEIGHS and not m.context.forward and not _each_for_itself(m, word, base, args, keywords):
        return marked(Value(extent=Extent.SAMPLES), WEIGHTED)
    return _turned(m, word, base, args) or _among(word, args[0] if args else _along(keywords), done)


def operation(word: str, operands: Args, keywords: Keywords) -> Value | None:
    """`a.div(b)`, `torch.add(a, b, alpha=2)`: operators by another name; None for anything else."""
    op = OPERATORS.get(word)
    if op is None or len(operands) != 2:
        return None
    left, right = operands
    if "alpha" in keywords:
        right = binary(right, keywords["alpha"], ast.Mult())
    if isinstance(op, ast.Div) and keywords.get("rounding_mode", NOTHING).const is not Literal.NONE:
        op = ast.FloorDiv()
    found = binary(left, right, op)
    return replace(found, objs=found.of(*MARKS))


def _turned(m: Machine, what: str, base: Value, args: Args) -> Value | None:
    """`x.t()`, `x.transpose(0, 1)`, and products with one; in a model the first dimension may be that of time."""
    order = [str(part.const) for a in args for part in a.items or (a,)]
    first_two = what in SWAPS and (sorted(order) in ([], ["0", "1"]) or sorted(order) == ["-2", "0"])
    first_two = first_two or (what == "permute" and order[1:2] == ["0"])
    if what == "t" or (first_two and (base.of(TURNED) or not m.context.forward)):
        return turned(Value(base.of(*MARKS), Extent.SAMPLES))
    if what in PRODUCTS and args and spread(args[0]) is Extent.SAMPLES:
        return Value(extent=product(base, args[0]))
    return None


def _placed(
    word: str, base: Value, args: Args, keywords: Keywords, done: Samples | None, *, forward: bool
) -> Value | None:
    """What has its samples in another dimension than the first: where they are then; None where nothing is special."""
    sizes = args[0].items if args and args[0].items else args
    if word in ("view", "reshape", "flatten", "ravel"):
        return _reshaped(word, base, sizes)
    if not base.of(TURNED):
        return None
    along = [*args, _along(keywords)][0]
    places = _places(along)[along.items is not None :]
    if word == "permute":
        places = [size.const for size in sizes][:2]
        return placed(base) if places[0] == 1 else base if places[1:] == [1] else Value(extent=Extent.VARYING)
    if word == "unsqueeze" and places[0] in (0, 1):
        return Value(extent=Extent.VARYING)
    if word in ("squeeze", "select", "unbind") and places[0] == 0:
        return placed(base)
    if done is Samples.ALONG and along is ANYTHING and effect_of(f".{word}").last and not forward:
        return Value(extent=Extent.VARYING)
    if done in (*TOTALS, Samples.STATISTIC, Samples.ORDERS, Samples.ALONG) and along is not ANYTHING:
        if 1 in places:
            return Value(extent=TOTALS[done](base) if done in TOTALS else Extent.VARYING)
        return placed(base) if 0 in places and done is not Samples.ALONG else base
    return None


def _reshaped(word: str, base: Value, sizes: Sequence[Value]) -> Value:
    """`output.view(-1, vocabulary)`, and back again: `losses.view(length, -1)`."""
    first = sizes[0] if sizes else Value(const=0 if word == "flatten" else -1)
    if first.of("shape"):
        return base
    if word in ("flatten", "ravel"):
        kept = base.of(TURNED) and isinstance(first.const, int) and first.const > 0
        return (base if first.const != 1 else Value(extent=Extent.VARYING)) if kept else placed(base, FLAT)
    if first.varies or first.const == -1:
        return placed(base, FLAT)
    apart = len(sizes) > 2 or base.of(FLAT)
    return placed(base, TURNED) if apart else Value(extent=Extent.VARYING)


def samples_at(value: Value) -> int:
    """The dimension that counts the samples of a batch."""
    return 1 if value.of(TURNED) else 0


def like(value: Value, given: Args) -> Value:
    """What a layer or a function makes of a batch has its samples where the batch has them."""
    place = given[0].of(TURNED, FLAT, MOVED) if given and spread(value) is Extent.SAMPLES else frozenset()
    return replace(value, objs=value.objs | place) if place else value


def _along(keywords: Keywords) -> Value:
    return next((keywords[k] for k in DIMENSION if k in keywords), ANYTHING)


def _of_all(m: Machine, attr: str, base: Value, args: Args, keywords: Keywords) -> Value:
    """Of a batch, or in a loop over its samples of one of them."""
    extent = spread(base)
    of_one = m.context.varying and (args or any(k in keywords for k in DIMENSION))
    if extent is Extent.SAMPLES and (of_one or _each_for_itself(m, attr, base, args, keywords)):
        return Value(extent=elementwise([base, *args, *keywords.values()]))
    varying = Value(extent=Extent.VARYING)
    return marked(varying, STATISTIC) if extent is Extent.SAMPLES and not m.context.varying else varying


def einsum(m: Machine, equation: object, operands: Args) -> Value | None:
    """A sum over the samples, where all operands have them and the result has not; in a model perhaps one over time."""
    found = contracted(equation)
    if found is None or len(found[0]) != len(operands) or any(spread(o) is not Extent.SAMPLES for o in operands):
        return None
    letters, summed_up = found
    if len(set(letters)) > 1 or not summed_up:
        return None
    return Value(extent=Extent.VARYING if m.context.forward and letters[0] not in "bn" else Extent.SUM)


def _among(what: str, along: Value, done: Samples | None) -> Value | None:
    if done is Samples.WEIGHS and along.const == 0:  # in a model too
        return marked(Value(extent=Extent.SAMPLES), WEIGHTED)
    picks = done is Samples.PICKS or (what == "where" and along is ANYTHING)
    return marked(Value(extent=Extent.SAMPLES), PICKED) if picks else None


def _each_for_itself(m: Machine, word: str, base: Value, args: Sequence[Value], keywords: Keywords) -> bool:
    """Is a sample's result made of this sample alone: along another dimension than that of the samples?"""
    op, line = effect_of(f".{word}"), base.of(LINE)
    place = op.dim or 0
    along = next((keywords[k] for k in DIMENSION if k in keywords), args[place] if len(args) > place else None)
    if along is None or along.const is Literal.NONE:  # of each class, the highest
        return not line and (bool(op.last) or (word == "topk" and bool(args) and args[0].const == 1))
    return 0 not in _places(along) and not (line and -1 in _places(along)) and not _at_times(m, along)


def lined(word: str, base: Value, args: Args) -> Value:
    """`x.view(-1)`, `x.flatten()`, `x.squeeze()`: the samples' dimension is the last one too."""
    plain = replace(base, objs=base.objs - base.of(LINE))
    asked = [a.const for a in args]
    one = asked == [-1] if word in ("view", "reshape") else not asked and word in ("flatten", "ravel")
    one = one or (word == "squeeze" and asked in ([], [1], [-1]))
    kept = base.of(LINE) and effect_of(f".{word}").shape in (None, Shape.SAME)
    return marked(plain, LINE) if one and spread(base) is Extent.SAMPLES else base if kept else plain


def contracted(equation: object) -> tuple[list[str], bool] | None:
    """Of `einsum("bi,bj->ij", …)`: by which letter each operand counts its samples, and whether they are summed up."""
    if not isinstance(equation, str) or "." in equation:
        return None
    given, arrow, result = equation.replace(" ", "").partition("->")
    result = result if arrow else "".join(c for c in given if given.count(c) == 1)
    first = [operand[:1] for operand in given.split(",")]
    return first, first[0] not in result
