"""Functions that make one thing of many samples: what a rank gets for its share is not what the whole batch gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nbddp.analysis.domain import Value

OF_ALL = frozenset("max min norm std var median argmax argmin prod any all quantile unique cov corrcoef".split())
ORDERING = frozenset("topk sort argsort kthvalue".split())  # of samples among each other, where no dimension is given
ALONG = frozenset(
    "logsumexp normalize cosine_similarity cumsum cumprod logcumsumexp".split()
)  # of each sample, where none is given
SECOND = ("topk", "kthvalue", "norm", "quantile", "normalize", "cosine_similarity")  # where it is the second argument


def each_for_itself(word: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Is a sample's result made of this sample alone: along another dimension than that of the samples?"""
    place = 1 if word in SECOND else 0
    along = next((keywords[k] for k in ("dim", "axis") if k in keywords), args[place] if len(args) > place else None)
    if along is None:
        return word in ALONG or (word == "topk" and bool(args) and args[0].const == 1)  # for each class, the highest
    return not (along.const == 0 or any(i.const == 0 for i in along.items or ()))


def contracted(equation: object) -> tuple[list[str], bool] | None:
    """Of `einsum("bi,bj->ij", …)`: by which letter each operand counts its samples, and whether they are summed up."""
    if not isinstance(equation, str) or "->" not in equation or "." in equation:
        return None
    given, _, result = equation.replace(" ", "").partition("->")
    first = [operand[:1] for operand in given.split(",")]
    return first, first[0] not in result
