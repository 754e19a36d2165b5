"""Which construct makes the difference: taken away on both sides, it must make the difference vanish."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from nbddp.verify.bench import Batches, Bench
from nbddp.verify.causes import CONSTRUCTS, GRADIENTS, MIXING, Cause
from nbddp.verify.compare import ROUNDING, Comparison, compare
from nbddp.verify.observe import repeated, same_samples, uneven
from nbddp.verify.trace import Trace

GROWS = 1e-2  # as far as rounding may grow over the steps and still be told from another training


@dataclass(frozen=True)
class Side:
    """How both sides are run, and what is known of their output."""

    bench: Bench
    unsteady: frozenset[int]
    cut: bool = True
    drawn: Batches = field(default_factory=list)  # the batches of all processes together, pass by pass

    def many(self, without: tuple[str, ...] = ()) -> Trace:
        return self.bench.many(without, batches=self.drawn if MIXING.name in without else [], cut=self.cut)

    def one(self, many: Trace, without: tuple[str, ...] = ()) -> Trace:
        """In the order of the many, but for a permutation that comes twice in a row, which no notebook asks for."""
        orders = {count: passes for count, passes in many.orders.items() if count not in repeated(many)}
        batches = self.drawn if MIXING.name in without else many.drawn if "sampler" in without else []
        return self.bench.one(without, order=orders, batches=batches, cut=self.cut)

    def pair(self, without: tuple[str, ...]) -> Comparison:
        many = self.many(without)
        if many.failure:
            return Comparison((), ())
        return compare(self.one(many, without), many, self.unsteady)

    def vanishes(self, without: tuple[str, ...]) -> Comparison | None:
        """What is left of the difference without these, where it is rounding."""
        found = self.pair(without)
        return found if found.steps_agree or rounding(self, found, without) else None


def rounding(side: Side, found: Comparison, without: tuple[str, ...] = ()) -> str:
    """A sentence where the difference is rounding that has grown.

    One process then differs from itself as much with its batches in another order: that is but another order of sums.
    """
    if not found.rows or found.missing or _of_losses(found) > GROWS:
        return ""
    first = found.rows[0]  # its weights tell nothing: Adam makes a whole step of a gradient that is only rounding
    if max(first.loss, first.lr) > ROUNDING or first.gradient > 10 * ROUNDING:
        return ""
    plain, turned = (side.one(_as_run(found), (*without, *more)) for more in ((), ("order",)))
    measured = compare(plain, turned, side.unsteady)
    if _of_losses(measured) > GROWS or len(measured.rows) < len(found.rows):
        return ""
    most = 0.0
    for row, other in zip(found.rows, measured.rows, strict=False):
        most = max(most, other.apart)
        if row.apart > 10 * most + ROUNDING:
            return ""
    return (
        "This training amplifies rounding: one process whose batches are summed in a different order differs by "
        f"{measured.apart:.1e} from itself."
    )


def _of_losses(found: Comparison) -> float:
    """A weight may be nothing but rounding, a bias that cancels out, say; a loss is not."""
    return max(row.loss for row in found.rows) if found.rows else 0.0


def _as_run(found: Comparison) -> Trace:
    return Trace(tuple(row.many for row in found.rows), (), ())


def candidates(one: Trace, many: Trace) -> list[str]:
    """What was seen at work in this training."""
    seen = set(one.seen | many.seen)
    if uneven(one, many):
        seen.add("uneven")
    elif not same_samples(one, many):
        seen.add("sampler")
    return [cause.name for cause in CONSTRUCTS if cause.name in seen]


def find(side: Side, names: list[str], before: Comparison) -> tuple[list[Cause], Comparison]:
    """The fewest constructs without which both sides agree; none where even without all of them they do not.

    And what is left of the difference, if only in what is printed.
    """
    needed = tuple(names)
    left = side.vanishes(needed) if names else None
    if left is None and side.drawn:
        needed = (MIXING.name, *names)
        left = side.vanishes(needed)
    if left is None:
        return [], before
    for name in names:
        fewer = tuple(other for other in needed if other != name)
        if fewer and (found := side.vanishes(fewer)):
            needed, left = fewer, found
    return [_with_evidence(cause, before, left) for cause in (*CONSTRUCTS, MIXING) if cause.name in needed], left


def _with_evidence(cause: Cause, before: Comparison, left: Comparison) -> Cause:
    return replace(cause, evidence=f"{cause.removed}: {before.apart:.1e} becomes {left.apart:.1e}")


def gradients(side: Side, before: Comparison) -> Cause | None:
    """Averaged by the probe, the gradients of a script that does not average them give what one process gives."""
    many = side.many((GRADIENTS.name,))
    found = compare(side.one(many), many, side.unsteady)
    if many.failure or not found.steps_agree:
        return None
    return _with_evidence(GRADIENTS, before, found)
