"""Runs to be compared: a row for each, with its parameters, the last and the best of its numbers, why it failed."""

from __future__ import annotations

import ast
import contextlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from nbddp.run.folder.about import read_about
from nbddp.run.folder.files import reading, text_of
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import runs_in
from nbddp.run.prune import glance
from nbddp.run.state.events import parsed
from nbddp.run.state.fold import fold_all
from nbddp.run.state.shown import latest_values, plain_name
from nbddp.run.state.state import Event, RunState
from nbddp.run.supervision.culprit import failure_of

LOG_TAIL = 1 << 15  # bytes of rank 0's log whose lines are read for numbers
HIGHER_IS_BETTER = re.compile(
    r"acc|f1|auc|score|iou|dice|bleu|psnr|ssim|reward|return|precision|recall|\br2\b|\bmap\b|correct"
)
OF_AN_EPOCH = re.compile(rb'^\{"event": ?"metrics".*$', re.MULTILINE)


@dataclass(frozen=True)
class Summary:
    """What one asks of a run beside others."""

    name: str
    title: str  # what a person calls it, and has noted
    note: str
    state: str
    started: float | None  # seconds since the epoch
    seconds: float | None
    processes: int | None
    epoch: int | None  # from 1
    epochs: int | None
    steps: int
    steps_per_second: float | None
    samples_per_second: float | None  # of all ranks together
    parameters: Mapping[str, Any] = field(default_factory=dict)
    last: Mapping[str, float] = field(default_factory=dict)
    best: Mapping[str, float] = field(default_factory=dict)
    failure: str = ""


class Runs(list[dict[str, Any]]):
    """A list of dicts, the oldest run first."""

    def to_frame(self) -> Any:
        """The same as a table of pandas: a column for each parameter (`lr`) and number (`last.loss`, `best.loss`)."""
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ImportError:
            raise ImportError("nbddp.runs().to_frame() needs pandas; nbddp.runs() is a list of dicts.") from None
        return pd.DataFrame([_flat(row) for row in self])


def runs(folder: str | Path = ".") -> Runs:
    """The runs that lie in this folder."""
    return Runs(asdict(summary_of(run)) for run in runs_in(Path(folder)))


def summary_of(folder: RunFolder, state: RunState | None = None) -> Summary:
    """From the two ends of what the run has told and the end of its log; the best from all of its epochs."""
    state = glance(folder) if state is None else state
    seen = fold_all(state, _lines(folder))
    return Summary(
        name=folder.name,
        **asdict(read_about(folder)),
        state=state.phase,
        started=state.started,
        seconds=state.elapsed(time.time()),
        processes=state.world_size or state.nproc,
        epoch=None if state.epoch is None else state.epoch + 1,
        epochs=state.epochs,
        steps=state.step,
        steps_per_second=state.average_rate if state.over else state.rate,
        samples_per_second=state.samples_rate,
        parameters=_parameters(folder),
        last=latest_values(seen),
        best=_best(_numbers(folder, seen)),
        failure=_reason(folder, state),
    )


def _reason(folder: RunFolder, state: RunState) -> str:
    """In a line: who, what, and in which cell."""
    failure = failure_of(folder, state)
    if failure is None:
        return ""
    return ", ".join(
        [failure.text.splitlines()[0], *(str(frame).splitlines()[0].strip() for frame in failure.frames[:1])]
    )


def _lines(folder: RunFolder) -> Iterator[Event]:
    """What rank 0 has printed, as events."""
    try:
        with reading(folder.log(0)) as file:
            file.seek(max(0, file.seek(0, 2) - LOG_TAIL))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return
    for line in text.splitlines():
        yield {"event": "line", "rank": 0, "time": None, "text": line}


def _numbers(folder: RunFolder, seen: RunState) -> Iterator[tuple[str, float]]:
    """Each number of each epoch: those that were reported, then those that were printed."""
    for path in folder.event_files:
        try:
            with reading(path) as file:
                rows = [event for line in OF_AN_EPOCH.findall(file.read()) if (event := parsed(line))]
        except OSError:
            rows = []
        for row in rows:
            yield from ((name, value) for name, value in row.get("values", {}).items() if name not in seen.sums)
    for curve in seen.curves.values():
        yield from ((curve.name, y) for _, y in curve.points if curve.source == "printed")


def _best(numbers: Iterable[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in numbers:
        better = max if HIGHER_IS_BETTER.search(plain_name(name)) else min
        found[name] = better(found.get(name, value), value)
    return found


def _parameters(folder: RunFolder) -> dict[str, Any]:
    """The constants at the top of the script, and what the command line says in their place."""
    found: dict[str, Any] = {}
    try:
        body: Sequence[ast.stmt] = ast.parse(text_of(folder.script)).body
    except (OSError, SyntaxError, ValueError):
        body = ()
    for statement in body:
        match statement:
            case ast.Assign([ast.Name(name)], ast.Constant(value)) if isinstance(value, int | float | str):
                found[name] = value
    words = list(map(str, folder.read_command().get("arguments") or ()))[1:]
    for word, after in zip(words, [*words[1:], "--"], strict=False):
        if word.startswith("--"):
            found[word[2:].replace("-", "_")] = True if after.startswith("--") else _number(after)
    return found


def _number(word: str) -> int | float | str:
    """As the script has the constant in whose place the word stands."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(word)
    return word


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    numbers = {f"{part}.{name}": value for part in ("last", "best") for name, value in row[part].items()}
    plain = {name: value for name, value in row.items() if name not in {"parameters", "last", "best"}}
    return {**plain, **row["parameters"], **numbers}
