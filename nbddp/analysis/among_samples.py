"""What sets the samples of a batch against each other, or takes some of them: a rank sees only those of its share."""

from __future__ import annotations

from nbddp.analysis.domain import ANYTHING, ENTRIES, PICKED, STATISTIC, WEIGHTED, Extent, Value, marked, spread
from nbddp.analysis.machine import Machine

Args = list[Value]
Keywords = dict[str, Value]
OF_ALL = frozenset("max min norm std var median argmax argmin prod any all".split())
ORDERS = ("topk", "sort", "kthvalue")
PICKS = ("masked_select", "nonzero", "argwhere", "unique")
DIMENSION = ("dim", "axis")


def over_samples(args: Args, keywords: Keywords) -> bool:
    """Is the first dimension, that of the samples, gone through?"""
    along = args[0] if args else keywords.get("dim", keywords.get("axis"))
    if along is None:
        return True
    return along.const == 0 or any(i.const == 0 for i in along.items or ())


def method_among(m: Machine, base: Value, attr: str, args: Args, keywords: Keywords) -> Value | None:
    """`x.std(0)`, `losses.topk(8)`, `scores.softmax(0)`, `mask.nonzero()`; None for anything else."""
    extent = spread(base)
    if attr in ("abs", "abs_") and extent in (Extent.MEAN, Extent.SUM):
        return Value(extent=Extent.VARYING)
    if attr in OF_ALL and base.varies:
        return _of_all(m, extent, args, keywords)
    if extent is not Extent.SAMPLES:
        return None
    along = args[0] if args else next((keywords[k] for k in DIMENSION if k in keywords), ANYTHING)
    return _among(attr, base, along)


def _of_all(m: Machine, extent: Extent, args: Args, keywords: Keywords) -> Value:
    along = bool(args) or "dim" in keywords or "axis" in keywords
    if extent is not Extent.SAMPLES:
        return Value(extent=Extent.VARYING)
    if along and (m.varying_control or not over_samples(args, keywords)):
        return Value(extent=Extent.SAMPLES)
    return Value(extent=Extent.VARYING) if m.varying_control else marked(Value(extent=Extent.VARYING), STATISTIC)


def function_among(name: str, args: Args, keywords: Keywords) -> Value | None:
    """The same, as functions of torch."""
    first = args[0] if args else ANYTHING
    if not name.startswith("torch.") or spread(first) is not Extent.SAMPLES:
        return None
    along = args[1] if len(args) > 1 else next((keywords[k] for k in DIMENSION if k in keywords), ANYTHING)
    return _among(name.rsplit(".", 1)[-1], first, along)


def _among(what: str, base: Value, along: Value) -> Value | None:
    if what in ("softmax", "softmin") and along.const == 0:
        return marked(Value(extent=Extent.SAMPLES), WEIGHTED)
    if (what in ORDERS and base.of(ENTRIES)) or what == "dot":
        return Value(extent=Extent.VARYING)
    picks = what in PICKS or (what == "where" and along is ANYTHING)
    return marked(Value(extent=Extent.SAMPLES), PICKED) if picks else None
