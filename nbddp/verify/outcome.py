"""What a verification comes to: a value from which every view is made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from nbddp.verify.causes import Cause
from nbddp.verify.compare import Comparison, Row

STATUS = {"same": 0, "alike": 1, "different": 2}
HEADLINES = {"same": "same within rounding", "alike": "statistically alike", "different": "different"}


@dataclass(frozen=True)
class Outcome:
    name: str
    nproc: int
    verdict: str  # same, alike, different
    sentence: str
    comparison: Comparison = field(default_factory=lambda: Comparison((), ()))
    causes: tuple[Cause, ...] = ()
    notes: tuple[str, ...] = ()
    expected: str = "one process"  # what the processes were compared with

    @property
    def status(self) -> int:
        return STATUS[self.verdict]

    @property
    def headline(self) -> str:
        return HEADLINES[self.verdict]

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.comparison.rows

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return {
            "format": 1,
            "name": self.name,
            "nproc": self.nproc,
            "verdict": self.verdict,
            "status": self.status,
            "sentence": self.sentence,
            "largest difference": number(self.comparison.apart),
            "causes": [asdict(cause) for cause in self.causes],
            "notes": list(self.notes),
            "printed": [list(pair) for pair in self.comparison.printed],
            "steps": [_row(row) for row in self.rows],
        }


def number(value: float) -> float | None:
    """JSON has no word for infinity."""
    return value if math.isfinite(value) else None


def _row(row: Row) -> dict[str, Any]:
    return {
        "step": row.number,
        "optimizer": row.optimizer,
        "loss": [number(row.one.loss), number(row.many.loss)],
        "lr": [list(row.one.lr), list(row.many.lr)],
        "gradient": [number(row.one.gradient), number(row.many.gradient)],
        "difference": {"loss": number(row.loss), "lr": number(row.lr), "weights": number(row.weights)},
        "weights differ most in": row.where,
    }


def optimizers(rows: Sequence[Row]) -> list[tuple[int, str]]:
    """The optimizers of the steps, in the order in which they first stepped."""
    return list({row.optimizer: (row.optimizer, row.one.kind) for row in rows}.values())
