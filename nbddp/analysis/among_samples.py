"""What sets the samples of a batch against each other, or takes some of them: a rank sees only those of its share."""

from __future__ import annotations

from nbddp.analysis.domain import ANYTHING, PICKED, STATISTIC, WEIGHTED, Extent, Value, marked, spread
from nbddp.analysis.machine import Machine
from nbddp.analysis.mixing import OF_ALL, ORDERING, each_for_itself

Args = list[Value]
Keywords = dict[str, Value]
PICKS = ("masked_select", "nonzero", "argwhere")
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
    if (attr in OF_ALL and base.varies) or (attr in ORDERING and extent is Extent.SAMPLES):
        return _of_all(m, attr, extent, args, keywords)
    if extent is not Extent.SAMPLES:
        return None
    return _among(attr, args[0] if args else _along(keywords))


def _along(keywords: Keywords) -> Value:
    return next((keywords[k] for k in DIMENSION if k in keywords), ANYTHING)


def _of_all(m: Machine, attr: str, extent: Extent, args: Args, keywords: Keywords) -> Value:
    """Of a batch, or in a loop over its samples of one of them."""
    of_one = m.varying_control and (args or any(k in keywords for k in DIMENSION))
    if extent is Extent.SAMPLES and (of_one or each_for_itself(attr, args, keywords)):
        return Value(extent=Extent.SAMPLES)
    varying = Value(extent=Extent.VARYING)
    return marked(varying, STATISTIC) if extent is Extent.SAMPLES and not m.varying_control else varying


def function_among(name: str, args: Args, keywords: Keywords) -> Value | None:
    """The same, as functions of torch."""
    if not name.startswith("torch.") or not args or spread(args[0]) is not Extent.SAMPLES:
        return None
    return _among(name.rsplit(".", 1)[-1], args[1] if len(args) > 1 else _along(keywords))


def _among(what: str, along: Value) -> Value | None:
    if what in ("softmax", "softmin") and along.const == 0:
        return marked(Value(extent=Extent.SAMPLES), WEIGHTED)
    if what == "dot":
        return Value(extent=Extent.VARYING)
    picks = what in PICKS or (what == "where" and along is ANYTHING)
    return marked(Value(extent=Extent.SAMPLES), PICKED) if picks else None
