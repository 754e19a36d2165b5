"""A curve that stays small however long the run: what a view draws, and what travels to the browser."""

from __future__ import annotations

import math
from dataclasses import dataclass

LIMIT = 500
Point = tuple[float, float]


@dataclass(frozen=True)
class Curve:
    """Every `stride`-th point of those seen, and always the latest.

    Points are thinned, never averaged: each one drawn is a number that the run really reported. Which ones stay depends
    on nothing but their order, so that two views of one run, or a replay of it, draw the same curve.
    """

    name: str
    source: str  # "step": a value per optimizer step; "epoch": one per epoch; "printed": read from what the loop prints
    x: str  # what the first number of a point counts: "step", "epoch", or "line" where a printed line says neither
    kept: tuple[Point, ...] = ()
    stride: int = 1
    seen: int = 0
    last: Point | None = None

    @property
    def points(self) -> tuple[Point, ...]:
        """What to draw, in the order of arrival."""
        if self.last is None or (self.kept and self.kept[-1] == self.last):
            return self.kept
        return (*self.kept, self.last)

    def before(self, x: float) -> Curve:
        """This curve up to there: what follows is told once more."""
        kept = tuple(point for point in self.kept if point[0] < x)
        last = self.last if self.last and self.last[0] < x else (kept[-1] if kept else None)
        return Curve(self.name, self.source, self.x, kept, self.stride, len(kept) * self.stride, last)

    def add(self, x: float, y: float) -> Curve:
        """This curve with one more point; one that is no finite number cannot be drawn, and is reported elsewhere."""
        if not (math.isfinite(x) and math.isfinite(y)):
            return self
        point = (float(x), float(y))
        kept, stride = self.kept, self.stride
        if self.seen % stride == 0:
            kept = (*kept, point)
        if len(kept) >= LIMIT:
            kept, stride = kept[::2], stride * 2
        return Curve(self.name, self.source, self.x, kept, stride, self.seen + 1, point)
