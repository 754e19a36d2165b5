"""How what the parts of a batch give is put together to what the whole batch gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

# The dimension at which parts are put behind each other; a mean by their numbers of samples, or a sum; the same in all;
# and, while it is looked for: none of these, or not to be told apart yet.
How = int | str
TOLERANCE = {torch.bfloat16: 3e-2, torch.float16: 5e-3, torch.float64: 1e-7}


def how_joined(whole: Any, parts: Sequence[Any], counts: Sequence[int]) -> How:
    """By comparison of an output with those of the parts."""
    if isinstance(whole, float):
        return how_joined(torch.tensor(whole), [torch.tensor(float(part)) for part in parts], counts)
    if not isinstance(whole, torch.Tensor):
        return "same" if all(type(part) is type(whole) and part == whole for part in parts) else "no"
    if any(part.dim() != whole.dim() for part in parts):
        return "no"
    for dimension in range(whole.dim()):
        if _adds_up(whole, parts, counts, dimension) and _near(torch.cat(list(parts), dimension), whole):
            return dimension
    return _as_numbers(whole, parts, counts)


def _as_numbers(whole: torch.Tensor, parts: Sequence[torch.Tensor], counts: Sequence[int]) -> How:
    if any(part.shape != whole.shape for part in parts):
        return "no"
    if not whole.is_floating_point():
        if all(torch.equal(part, whole) for part in parts):
            return "same"
        return "sum" if torch.equal(joined("sum", parts, counts), whole) else "no"
    is_mean, is_sum = (_near(joined(how, parts, counts), whole) for how in ("mean", "sum"))
    if is_mean and is_sum:
        return "open"
    return "mean" if is_mean else "sum" if is_sum else "no"


def joined(how: How, parts: Sequence[Any], counts: Sequence[int]) -> Any:
    """One output of all parts."""
    if how == "same":
        return parts[0]
    if how == "sum":
        return sum(parts[1:], start=parts[0])
    if how == "mean":
        return sum(part * (count / sum(counts)) for part, count in zip(parts, counts, strict=True))
    return torch.cat(list(parts), int(how))


def _adds_up(whole: torch.Tensor, parts: Sequence[torch.Tensor], counts: Sequence[int], dimension: int) -> bool:
    """Does each part have its share there, and all of every other dimension?"""
    total = sum(counts)
    for part, count in zip(parts, counts, strict=True):
        sizes = list(part.shape)
        if sizes[dimension] * total != whole.shape[dimension] * count:
            return False
        sizes[dimension] = whole.shape[dimension]
        if sizes != list(whole.shape):
            return False
    return True


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    if not one.is_floating_point() and not one.is_complex():
        return torch.equal(one, other)
    room = TOLERANCE.get(one.dtype, 1e-3 if one.is_cuda else 1e-4)
    scale = other.abs().max().item() if other.numel() else 0.0
    return bool(torch.allclose(one, other, rtol=room, atol=room * scale, equal_nan=True))
