"""Functions that make one thing of many samples: what a rank gets for its share is not what the whole batch gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nbddp.analysis.domain import Value

OF_ALL = frozenset("max min norm std var median argmax argmin prod any all quantile unique cov corrcoef".split())
ORDERING = frozenset("topk sort argsort kthvalue".split())  # of samples among each other, where no dimension is given
SECOND = ("topk", "kthvalue", "norm", "quantile")  # where the dimension is the second argument


def each_for_itself(word: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Is a sample's result made of this sample alone: along another dimension than that of the samples?"""
    place = 1 if word in SECOND else 0
    along = next((keywords[k] for k in ("dim", "axis") if k in keywords), args[place] if len(args) > place else None)
    if along is None:
        return word == "topk" and bool(args) and args[0].const == 1  # of a score for each class, the highest
    return not (along.const == 0 or any(i.const == 0 for i in along.items or ()))
