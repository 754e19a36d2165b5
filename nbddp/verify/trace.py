"""What the processes of one run have written down, put together step by step."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from nbddp.run.folder.folder import RunFolder
from nbddp.run.state.printed import plain

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Step:
    """One call of an optimizer's `step`, as all ranks have seen it."""

    number: int
    optimizer: int
    kind: str
    loss: float  # the mean over the ranks, since that is whose gradient they step along
    lr: tuple[float, ...]
    gradient: float
    weights: Mapping[str, tuple[float, ...]]
    batches: tuple[tuple[tuple[int, ...], ...], ...]  # for each backward pass, for each rank: the samples
    ranks: tuple[Record, ...]  # what each rank itself has written down


@dataclass(frozen=True)
class Trace:
    """One run."""

    steps: tuple[Step, ...]
    taken: tuple[int, ...]  # steps of each rank
    lines: tuple[str, ...]  # what rank 0 has printed
    seen: frozenset[str] = frozenset()
    failure: str = ""
    created: tuple[str, ...] = ()

    @property
    def losses(self) -> list[float]:
        return [step.loss for step in self.steps]

    @property
    def orders(self) -> dict[str, list[list[int]]]:
        """For each size of the data the seed and epoch of each training pass."""
        passes = {tuple(s.ranks[0]["passed"]): None for s in self.steps if s.ranks[0].get("passed")}
        found: dict[str, list[list[int]]] = {}
        for _, count, seed, epoch in passes:
            found.setdefault(str(count), []).append([seed, epoch])
        return found

    @property
    def drawn(self) -> list[list[list[int]]]:
        """For each training pass the batches of all ranks together, in the order of one process."""
        passes: dict[int, list[list[int]]] = {}
        for step in self.steps:
            for shares in step.batches:
                together = [sample for row in zip_longest(*shares) for sample in row if sample is not None]
                passes.setdefault(step.ranks[0]["loop"], []).append(together)
        return list(passes.values())


def read(folder: RunFolder, nproc: int, failure: str = "") -> Trace:
    """As far as the run has come."""
    ranks = [_records(folder.path / f"trace{rank}.jsonl") for rank in range(nproc)]
    steps = tuple(_step(together) for together in zip(*ranks, strict=False))
    path = folder.log(0) if folder.log(0).exists() else folder.stdout
    return Trace(
        steps,
        tuple(len(records) for records in ranks),
        _lines(path),
        frozenset(_noted(folder, "seen")),
        failure,
        tuple(sorted(_noted(folder, "created"))),
    )


def _noted(folder: RunFolder, kind: str) -> set[str]:
    return {json.loads(line) for path in folder.path.glob(f"{kind}*.txt") for line in _whole_lines(path)}


def _records(path: Path) -> list[Record]:
    return [json.loads(line) for line in _whole_lines(path)]


def _whole_lines(path: Path) -> list[str]:
    """The last one may have been cut off."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return []
    return text[: text.rfind("\n") + 1].splitlines()


def _step(together: Sequence[Record]) -> Step:
    first = together[0]
    shares = zip(*(record["batches"] for record in together), strict=False)
    return Step(
        first["step"],
        first["optimizer"],
        first["kind"],
        sum(sum(record["losses"]) for record in together) / len(together),
        tuple(first["lr"]),
        first["gradient"],
        {name: tuple(values) for name, values in first["weights"].items()},
        tuple(tuple(tuple(batch) for batch in batches) for batches in shares),
        tuple(together),
    )


def _lines(path: Path) -> tuple[str, ...]:
    """Those that say a number; a bar that is redrawn in place says where it is, not what came out."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    return tuple(plain(line) for line in text.split("\n") if re.search(r"\d", line) and "\r" not in line)
