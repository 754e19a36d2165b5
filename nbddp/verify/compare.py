"""Two runs side by side: how far apart, from which step on, and in what."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from nbddp.verify.trace import Step, Trace

ROUNDING = 1e-5
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)\b")


@dataclass(frozen=True)
class Row:
    """One step of both; a difference is relative."""

    number: int
    optimizer: int
    one: Step
    many: Step
    loss: float
    lr: float
    gradient: float
    weights: float
    where: str  # the parameter that differs most

    @property
    def apart(self) -> float:
        """The largest of them. The gradient is left out: it may be nothing but rounding itself, near a minimum."""
        return max(self.loss, self.lr, self.weights)


@dataclass(frozen=True)
class Comparison:
    rows: tuple[Row, ...]
    printed: tuple[tuple[str, str], ...]  # lines with other numbers: of one process, of many
    missing: int = 0  # steps that only one of the two has taken

    @property
    def apart(self) -> float:
        return max((row.apart for row in self.rows), default=0.0)

    @property
    def steps_agree(self) -> bool:
        return bool(self.rows) and not self.missing and self.apart <= ROUNDING

    @property
    def agree(self) -> bool:
        return self.steps_agree and not self.printed


def compare(one: Trace, many: Trace, unsteady: frozenset[int] = frozenset(), tolerance: float = 1e-4) -> Comparison:
    """`unsteady` are the printed lines of one process that are not the same when it runs again: times, paths."""
    scale = max((abs(step.loss) for step in one.steps), default=1.0)  # of all optimizers: a loss may cancel out
    pairs = zip(one.steps, many.steps, strict=False)
    rows = tuple(_row(a, b, scale) for a, b in pairs)
    printed = tuple(_printed(one.lines, many.lines, unsteady, tolerance))
    return Comparison(rows, printed, abs(len(one.steps) - len(many.steps)))


def _row(one: Step, many: Step, scale: float) -> Row:
    weights, where = 0.0, ""
    for name, values in one.weights.items():
        found = of_parameter(values, many.weights.get(name, ()))
        if not found <= weights:  # also for what is no number
            weights, where = found, name.partition(":")[2]
    return Row(
        one.number,
        one.optimizer,
        one,
        many,
        _relative(one.loss, many.loss, 1e-3 * scale),
        max((_relative(a, b, 0.0) for a, b in zip(one.lr, many.lr, strict=False)), default=0.0),
        _relative(one.gradient, many.gradient, 0.0),
        weights,
        where,
    )


def of_parameter(one: tuple[float, ...], many: tuple[float, ...]) -> float:
    """Against the largest of its values: a single weight near zero has no relative precision."""
    if len(one) != len(many):
        return math.inf
    pairs = [(a, b) for a, b in zip(one, many, strict=True) if a != b]
    size = max(map(abs, one), default=0.0)
    return max((_relative(a, b, size) for a, b in pairs), default=0.0)


def _relative(a: float, b: float, least: float) -> float:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return abs(a - b) / max(abs(a), abs(b), least)


def unsteady_lines(one: Trace, again: Trace) -> frozenset[int]:
    """Places of the lines that differ between two runs of the same."""
    pairs = enumerate(zip(one.lines, again.lines, strict=False))
    return frozenset(place for place, (a, b) in pairs if a != b)


def _printed(
    one: tuple[str, ...], many: tuple[str, ...], unsteady: frozenset[int], tolerance: float
) -> Iterator[tuple[str, str]]:
    """Lines of the same words, in order; one that only one of the two has printed proves nothing."""
    words, others = ([NUMBER.sub("#", line) for line in lines] for lines in (one, many))
    for place, there, size in SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks():
        for step in range(size):
            a, b = one[place + step], many[there + step]
            if place + step not in unsteady and not _close(a, b, tolerance):
                yield a.strip(), b.strip()


def _close(one: str, many: str, tolerance: float) -> bool:
    """A number may differ by rounding, and by one unit of its last digit."""
    return all(
        a == b or _relative(float(a), float(b), 0.0) <= tolerance or abs(float(a) - float(b)) <= 1.01 * _unit(a)
        for a, b in zip(NUMBER.findall(one), NUMBER.findall(many), strict=True)
    )


def _unit(text: str) -> float:
    mantissa, _, exponent = text.partition("e")
    if "." not in mantissa and not exponent:
        return 0.0
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def alike(comparison: Comparison) -> bool:
    """The same course of training: losses that scatter about each other, or lie within a tenth."""
    for optimizer in {row.optimizer for row in comparison.rows}:
        rows = [row for row in comparison.rows if row.optimizer == optimizer]
        apart = [row.many.loss - row.one.loss for row in rows]
        size = sum(abs(row.one.loss) for row in rows) / len(rows)
        mean = sum(apart) / len(apart)
        spread = math.sqrt(sum((x - mean) ** 2 for x in apart) / max(1, len(apart) - 1) / len(apart))
        noise = math.sqrt(sum((b.one.loss - a.one.loss) ** 2 for a, b in pairwise(rows)) / max(1, len(rows) - 1))
        if not abs(mean) <= max(0.1 * size, 3 * spread, noise / math.sqrt(len(apart))):
            return False
    return bool(comparison.rows) and not comparison.missing
