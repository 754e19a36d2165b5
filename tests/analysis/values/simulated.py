"""Numbers as two or three ranks have them and as one process has them, with what the lattice says of each.

Put together in the way that an extent claims, the ranks' numbers must be that of one process.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nbddp.analysis.values import WEIGHTED, Extent, Value, alike, marked
from nbddp.analysis.values.domain import RATED

Numbers = Any  # a number, or a list with one for each sample

SHARES = ((3, 3), (3, 3, 3), (2, 4), (2, 4, 3))


@dataclass(frozen=True)
class Known:
    """What each rank has, what one process has, and what the lattice says of it."""

    title: str
    value: Value
    ranks: tuple[Numbers, ...]
    whole: Numbers


@dataclass(frozen=True)
class World:
    shares: tuple[int, ...]

    @property
    def equal(self) -> bool:
        return len(set(self.shares)) == 1

    def mean(self, numbers: tuple[Any, ...]) -> Any:
        """Over the ranks; where the shares are unlike, a mean over the share counts as often as it has samples."""
        return sum(n * s for n, s in zip(numbers, self.shares, strict=True)) / Fraction(sum(self.shares))

    def values(self) -> Iterator[Known]:
        ranks = range(len(self.shares))
        yield self._same("3", Value(const=3, number=True), 3)
        yield self._same("0", Value(const=0, number=True), 0)
        yield self._same("uniform", Value(), Fraction(-5, 2))
        yield self._same("repeated", Value(extent=Extent.REPEATED), 2)
        for sign in (1, -1):
            losses = tuple(sign * Fraction(7 + 4 * r, 2) * (-1) ** r for r in ranks)
            yield Known(f"mean {sign}", Value(extent=Extent.MEAN), losses, self.mean(losses))
            counts = tuple(sign * Fraction(5 + 6 * r, 2) * (-1) ** r for r in ranks)
            yield Known(f"sum {sign}", Value(extent=Extent.SUM), counts, sum(counts))
            samples = tuple([Fraction(sign * (i * i - 3 * r) + 7, 2) for i in range(self.shares[r])] for r in ranks)
            yield Known(f"samples {sign}", Value(extent=Extent.SAMPLES), samples, _together(samples))
        unknown = tuple(Fraction(11 + 5 * r, 3) for r in ranks)
        yield Known("varying", Value(extent=Extent.VARYING), unknown, Fraction(29, 7))
        sizes = Value(extent=Extent.SUM, equal=self.equal, size=True, number=True)
        yield Known("size", sizes, self.shares, sum(self.shares))
        if self.equal:
            yield from self._of_equal_shares()

    def _of_equal_shares(self) -> Iterator[Known]:
        n = len(self.shares)
        yield Known("equal sum", Value(extent=Extent.SUM, equal=True), (5,) * n, 5 * n)
        yield Known("rate", Value(extent=Extent.RATE, equal=True), (Fraction(1, 4),) * n, Fraction(1, 4 * n))
        rated = tuple([Fraction(2 * i + r + 1, 3) for i in range(s)] for r, s in enumerate(self.shares))
        whole = [number / n for number in _together(rated)]
        yield Known("rated samples", marked(Value(extent=Extent.SAMPLES), RATED), rated, whole)

    def _same(self, title: str, value: Value, number: Numbers) -> Known:
        return Known(title, value, (number,) * len(self.shares), number)

    def claimed(self, value: Value, ranks: tuple[Numbers, ...]) -> Numbers:
        """What the ranks' results are put together; None where nothing is claimed."""
        match value.extent:
            case Extent.UNIFORM | Extent.REPEATED:
                return ranks[0] if all(r == ranks[0] for r in ranks) else math.nan
            case Extent.SAMPLES if not value.of(WEIGHTED):
                together = _together(ranks)
                return [number / Fraction(len(ranks)) for number in together] if value.of(RATED) else together
            case Extent.MEAN:
                return self.mean(ranks)
            case Extent.SUM:
                return sum(ranks)
            case Extent.RATE:
                return ranks[0] / Fraction(len(ranks)) if all(r == ranks[0] for r in ranks) else math.nan
        return None

    def holds(self, value: Value, ranks: tuple[Numbers, ...], whole: Numbers) -> bool:
        """Is it so what the value claims of these numbers?"""
        if alike(value) and not all(r == ranks[0] for r in ranks):
            return False
        together = self.claimed(value, ranks)
        return together is None or _is_close(together, whole)


def _together(shares: tuple[Numbers, ...]) -> list[Any]:
    return [number for share in shares for number in share]


def _is_close(one: Numbers, other: Numbers) -> bool:
    if isinstance(one, list) or isinstance(other, list):
        both = isinstance(one, list) and isinstance(other, list) and len(one) == len(other)
        return both and all(map(_is_close, one, other))
    return bool(abs(one - other) < 1e-9)


def spread_over(function: Callable[..., Any], *operands: Numbers) -> Numbers:
    """As tensors do it: for each sample, where there are any."""
    length = next((len(o) for o in operands if isinstance(o, list)), None)
    if length is None:
        return function(*operands)
    return [function(*(o[i] if isinstance(o, list) else o for o in operands)) for i in range(length)]


def is_true(world: World, value: Value, function: Callable[..., Any], *operands: Known) -> bool:
    try:
        ranks = tuple(spread_over(function, *given) for given in zip(*(o.ranks for o in operands), strict=True))
        whole = spread_over(function, *(o.whole for o in operands))
    except (ZeroDivisionError, TypeError, OverflowError):
        return True  # there is no such number
    return world.holds(value, ranks, whole)
