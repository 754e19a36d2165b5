"""What the records of the processes show by themselves, without any experiment: facts that no right script leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from nbddp.verify.causes import ORDER, RATES, ROUNDED, SAMPLES, SEED, SPLIT, STEPS, SUM, Cause
from nbddp.verify.compare import of_parameter
from nbddp.verify.trace import Step, Trace

APART = 1e-6  # ranks of one run have taken the same numbers through the same operations


def defects(one: Trace, many: Trace) -> Iterator[Cause]:
    """Each once, with the first place where it was seen."""
    if len(set(many.taken)) > 1 and not many.failure:
        taken = ", ".join(f"rank {rank} {count}" for rank, count in enumerate(many.taken))
        yield replace(STEPS, evidence=f"steps taken: {taken}")
    yield from _batches(one, many) or _lengths(one, many)
    for count in repeated(many):
        yield replace(ORDER, evidence=f"two passes over the {count} samples used the same order")
    yield from _rates(many)
    yield from _sums(one, many)


def _sums(one: Trace, many: Trace) -> Iterator[Cause]:
    """Before the first step the weights are equal: a loss of one N-th can only be the sum over one N-th."""
    for a, b in zip(one.steps[:1], many.steps[:1], strict=False):
        ranks = len(b.ranks)
        if ranks > 1 and b.loss and abs(a.loss / b.loss / ranks - 1) < 1e-4:
            yield replace(SUM, evidence=f"at the first step {b.loss:.6g} on each process, {a.loss:.6g} on one")


def _rates(many: Trace) -> Iterator[Cause]:
    for step in many.steps:
        rates = [record["lr"] for record in step.ranks]
        if any(rate != rates[0] for rate in rates):
            said = ", ".join(f"rank {rank} {rate[0]:.6g}" for rank, rate in enumerate(rates))
            yield replace(RATES, evidence=f"at step {step.number}: {said}")
            return


def _lengths(one: Trace, many: Trace) -> list[Cause]:
    """An epoch of shares has as many batches as one of the whole."""
    for a, b in zip(one.steps, many.steps, strict=False):
        whole, share = a.ranks[0]["length"], b.ranks[0]["length"]
        if whole and share and whole != share:
            said = f"an epoch has {share} batches on each of them, {whole} on one process"
            return [replace(ROUNDED if _is_rounded(a, b) else SAMPLES, evidence=said)]
    return []


def _is_rounded(one: Step, many: Step) -> bool:
    """Do all processes together take a little less than the one does?"""
    whole, shares = one.batches[0][0], many.batches[0]
    return len({*map(len, shares)}) == 1 and 0 < len(whole) - sum(map(len, shares)) < len(shares)


def _batches(one: Trace, many: Trace) -> list[Cause]:
    found: dict[str, Cause] = {}
    for a, b in zip(one.steps, many.steps, strict=False):
        for place, shares in enumerate(b.batches):
            whole = a.batches[place][0] if place < len(a.batches) else ()
            if cause := _batch(whole, shares, b.number):
                found.setdefault(cause.name, cause)
    return list(found.values())


def _batch(whole: tuple[int, ...], shares: tuple[tuple[int, ...], ...], number: int) -> Cause | None:
    taken = [sample for share in shares for sample in share]
    if whole and len(taken) >= len(whole) + len(shares):
        together = f"{len(taken)} samples in all, {len(whole)} on one process"
        return replace(SPLIT, evidence=f"at step {number}: {together}")
    twice = sum(count - 1 for count in Counter(taken).values()) - sum(c - 1 for c in Counter(whole).values())
    if twice >= len(shares) and len(set(shares)) < len(shares) and len(taken) > len(shares):
        return replace(SAMPLES, evidence=f"at step {number} several processes used the same samples")
    return None


def repeated(many: Trace) -> list[str]:
    """Sizes of data whose passes follow each other in one order."""
    return [count for count, passes in many.orders.items() if any(list(a) == list(b) for a, b in pairwise(passes))]


def same_samples(one: Trace, many: Trace) -> bool:
    """Whether each step of all processes was made of the samples of one, but for those that fill up."""
    return all(
        set(whole) == {sample for share in shares for sample in share}
        for a, b in zip(one.steps, many.steps, strict=False)
        for (whole, *_), shares in zip(a.batches, b.batches, strict=False)
    )


def uneven(one: Trace, many: Trace) -> bool:
    """Whether a step of all processes took a few samples more than that of one."""
    return any(
        len(whole) != sum(map(len, shares)) or len({len(share) for share in shares}) > 1
        for a, b in zip(one.steps, many.steps, strict=False)
        for (whole, *_), shares in zip(a.batches, b.batches, strict=False)
    )


def ranks_apart(many: Trace) -> Step | None:
    """The first step after which two ranks hold different weights."""
    for step in many.steps:
        first = step.ranks[0]["weights"]
        for other in step.ranks[1:]:
            if any(
                of_parameter(tuple(values), tuple(other["weights"].get(name, ()))) > APART
                for name, values in first.items()
            ):
                return step
    return None


def seeded_apart(many: Trace) -> Cause | None:
    """Whether the ranks had come to different random numbers before they began to train."""
    states = {record["started"] for step in many.steps[:1] for record in step.ranks}
    return replace(SEED, evidence="their random numbers differ before the first step") if len(states) > 1 else None
