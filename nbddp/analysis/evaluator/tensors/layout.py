"""Where the samples of a batch are then: operations that turn, reshape or keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nbddp.analysis.evaluator.tensors.dimensions import NOTHING, places_of
from nbddp.analysis.library import Shape, effect_of
from nbddp.analysis.values import (
    FLAT,
    JOINED,
    LINE,
    MARKS,
    MOVED,
    OF_EACH,
    TURNED,
    Args,
    Extent,
    Keywords,
    Literal,
    Machine,
    Value,
    marked,
    of_one,
    placed,
    product,
    spread,
    turned,
)

SWAPS = ("transpose", "swapaxes", "swapdims", "movedim", "moveaxis")
PRODUCTS = ("mm", "matmul")


def along_another(base: Value, along: Value, keywords: Keywords) -> Value:
    """Each sample's own sum, mean or deviation; where the dimension before theirs goes, they come to the front."""
    kept = Value(base.of(*OF_EACH), spread(base))
    gone = keywords.get("keepdim", keywords.get("keepdims", NOTHING)).const in (False, Literal.NONE)
    if not gone:
        return replace(kept, objs=kept.objs | base.of(TURNED, LINE))
    if base.of(TURNED) and 0 not in places_of(along):
        return replace(kept, objs=kept.objs | (base.of(TURNED) if not base.of(LINE) else frozenset()))
    return replace(kept, objs=kept.objs | (base.of(LINE) if base.of(TURNED) else frozenset()))


def turned_by(m: Machine, what: str, base: Value, args: Args) -> Value | None:
    """`x.t()`, `x.transpose(0, 1)`, and products with one; in a model the first dimension may be that of time."""
    order = [str(part.const) for a in args for part in a.items or (a,)]
    first_two = what in SWAPS and (sorted(order) in ([], ["0", "1"]) or sorted(order) == ["-2", "0"])
    first_two = first_two or (what == "permute" and order[1:2] == ["0"])
    if what == "t" or first_two:
        return turned(Value(base.of(*MARKS), Extent.SAMPLES), line=what == "t")
    sizes = [part for a in args for part in a.items or (a,)]
    behind_one = what in ("view", "reshape") and len(sizes) > 1 and sizes[0].const == 1 and sizes[1].size
    if behind_one or (what in ("unsqueeze", "expand_dims") and order == ["0"]):
        return before(Value(base.of(*MARKS), Extent.SAMPLES))
    if what in PRODUCTS and args and spread(args[0]) is Extent.SAMPLES:
        return Value(extent=product(base, args[0]))
    if what in ("view", "reshape") and not (m.context.forward or base.of(JOINED)) and _is_counted_out(m, args):
        return Value(extent=Extent.VARYING)
    return None


def _is_counted_out(m: Machine, args: Args) -> bool:
    """`x.view(5, 8, -1)`: of a share's samples it puts others together; a loader's batch size becomes the share's."""
    first, *others = [part.const for a in args for part in a.items or (a,)] or [None]
    if m.assumed.splits or type(first) is not int or first < 2 or -1 not in others or any(a.varies for a in args):
        return False
    loaders = (f for f in m.facts.calls.values() if m.facts.value(f.node).of("loader"))
    return first not in {(f.args.get("batch_size") or f.args.get(1) or NOTHING).const for f in loaders}


def before(base: Value) -> Value:
    """`x[None]`, `x.unsqueeze(0)`."""
    return marked(placed(base, TURNED), LINE) if base.of(LINE) else placed(base, TURNED)


def placed_by(word: str, base: Value, args: Args) -> Value | None:
    """What has its samples in another dimension than the first: where they are then; None where nothing is special."""
    sizes = args[0].items if args and args[0].items else args
    if word in ("view", "reshape", "flatten", "ravel"):
        return _reshaped(word, base, sizes)
    if not base.of(TURNED):
        return None
    places = [size.const for size in sizes][:2]
    if word == "permute":
        return placed(base) if places[:1] == [1] else base if places[1:] == [1] else Value(extent=Extent.VARYING)
    if word == "unsqueeze" and places[0] in (0, 1):
        return Value(extent=Extent.VARYING)
    if word in ("squeeze", "select", "unbind") and (places[:1] == [0] or (not places and _is_one_before(base))):
        return placed(base, LINE if base.of(LINE) else "")
    return None


def _is_one_before(base: Value) -> bool:
    """Is there one of what is counted before the samples, as of the layers whose states they are?"""
    return isinstance(base.shape, tuple) and bool(base.of(TURNED)) and base.shape[:1] == (1,)


def _reshaped(word: str, base: Value, sizes: Sequence[Value]) -> Value:
    """`output.view(-1, vocabulary)`, and back again: `losses.view(length, -1)`."""
    first = sizes[0] if sizes else Value(const=0 if word == "flatten" else -1)
    if first.of("shape"):
        return base
    if word in ("flatten", "ravel"):
        kept = base.of(TURNED) and isinstance(first.const, int) and first.const > 0
        return (base if first.const != 1 else Value(extent=Extent.VARYING)) if kept else placed(base, FLAT)
    if first.varies or first.const == -1:
        return placed(base, "" if _is_one_before(base) else FLAT)
    apart = len(sizes) > 2 or base.of(FLAT)
    return placed(base, TURNED) if apart else Value(extent=Extent.VARYING)


def like(value: Value, given: Args) -> Value:
    """What a layer or a function makes of a batch has its samples where the batch has them."""
    if not given or spread(value) is not Extent.SAMPLES:
        return value
    place = given[0].of(TURNED, FLAT, MOVED).union(*(v.of(*OF_EACH) for v in given))
    return of_one(replace(value, objs=value.objs | place), given) if place else value


def lined(word: str, base: Value, args: Args) -> Value:
    """`x.view(-1)`, `x.flatten()`, `x.squeeze()`: the samples' dimension is the last one too."""
    if base.of(TURNED) and base.of(LINE) and word in ("squeeze", "unsqueeze"):
        return base.with_extent(Extent.VARYING) if not args else base
    plain = replace(base, objs=base.objs - base.of(LINE))
    asked = [a.const for a in args]
    if asked == [1, -1] and word in ("view", "reshape") and spread(base) is Extent.SAMPLES:
        return marked(placed(plain, TURNED), LINE)
    one = asked == [-1] if word in ("view", "reshape") else not asked and word in ("flatten", "ravel")
    one = one or (word == "squeeze" and asked in ([], [1], [-1]) and (base.rank or 0) < 3)
    kept = base.of(LINE) and effect_of(f".{word}").shape in (None, Shape.SAME)
    return marked(plain, LINE) if one and spread(base) is Extent.SAMPLES else base if kept else plain
