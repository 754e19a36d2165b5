"""One thing that keeps numbers. In changes N and M stand for numbers of a batch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Thing:
    start: str  # makes it
    changes: tuple[str, ...]  # in the loop over the batches
    shows: tuple[str, ...]  # expressions that look at it behind the loop
    once: str = ""  # definitions and imports, before all
    names: str = ""  # those that changes bind: a function that makes changes declares them
