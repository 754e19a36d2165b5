"""Who failed first, told in cells and lines of the notebook."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbddp.run.folder.files import reading, text_of
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.line_map import read_line_map
from nbddp.run.state.state import Failure, RunState
from nbddp.run.supervision.causes import explanation

LAST_LINES = 20  # of the rank's log


@dataclass(frozen=True)
class Frame:
    """One level of a traceback; `cell` and `cell_line` where the script's line came from a cell."""

    file: str
    line: int
    function: str
    cell: int | None = None
    cell_line: int | None = None
    source: str = ""
    last_seen: bool = False  # some time before its end, since it did not say where that was

    def __str__(self) -> str:
        place = (
            f"cell {self.cell}, line {self.cell_line}" if self.cell is not None else f"{self.file}, line {self.line}"
        )
        code = f"\n    {self.source.strip()}" if self.source.strip() else ""
        return f"  {'last seen in ' if self.last_seen else ''}{place}, in {self.function}{code}"


class RunFailed(Exception):
    """A run that failed. The fields first; what is shown follows from them."""

    def __init__(  # noqa: PLR0913 -- the fields of what is shown
        self,
        *,
        rank: int | None,
        type: str,  # noqa: A002 -- as in the event
        message: str,
        frames: Sequence[Frame] = (),
        log: Sequence[str] = (),
        cause: str = "",
        run: str = "",
        phase: str = "failed",
    ) -> None:
        self.rank, self.type, self.message = rank, type, message
        self.frames, self.log, self.cause, self.run, self.phase = tuple(frames), tuple(log), cause, run, phase
        super().__init__(self.text)

    @property
    def text(self) -> str:
        """What happened, where, what the rank printed last, and where all of it is."""
        who = "the main process" if self.rank is None else f"rank {self.rank}"
        said = ": ".join(part for part in (self.type, self.message) if part)
        parts = [said if self.rank is None and not self.type else f"{who}: {said}", self.cause]
        parts += [str(frame) for frame in self.frames]
        if self.log:
            parts += [f"the last lines of {who}:", *(f"  {line}" for line in self.log)]
        if self.run:
            parts.append(f"the whole log: nbddp log {self.run}" + (f" --rank {self.rank}" if self.rank else ""))
        return "\n".join(part for part in parts if part)


def failure_of(folder: RunFolder, state: RunState) -> RunFailed | None:
    """The failure of a run that is over, or None where it ended as it was meant to."""
    if state.phase not in {"failed", "killed", "lost"}:
        return None
    culprit = state.culprit
    cause = state.exit.cause if state.exit else state.lost
    if culprit is not None and culprit.victim and state.exit and state.exit.signal:
        culprit = None  # no rank is to blame: the process around them was killed
    if culprit is None:
        signal = state.exit.signal if state.exit else None
        status = f"ended with status {state.exit.status}" if state.exit and state.exit.status else ""
        otherwise = "" if cause else f"the run is {state.phase}"
        culprit = Failure(None, signal or "", "" if signal else status or otherwise, 0.0)
    elif not culprit.died:
        cause = explanation(culprit.message)
    cells = read_line_map(folder.line_map)
    frames = frames_of(culprit, cells, folder.script)
    if own := bool(cells and frames) and _is_a_sentence(culprit, frames):
        frames, culprit = (), replace(culprit, type="")
    return RunFailed(
        rank=culprit.rank,
        type=culprit.type,
        message=culprit.message,
        frames=frames,
        log=[] if own or (frames and not culprit.died) else last_lines(folder, culprit.rank),
        cause=cause,
        run=folder.name,
        phase=state.phase,
    )


def _is_a_sentence(failure: Failure, frames: Sequence[Frame]) -> bool:
    """What the script itself says where it cannot go on: a place in it would tell nothing more."""
    said = failure.type == "SystemExit" and " " in failure.message
    return said and all(frame.cell is None for frame in frames)


def frames_of(failure: Failure, line_map: Mapping[int, Mapping[str, Any]], script: Path) -> tuple[Frame, ...]:
    """The traceback from the script's first line on; the libraries' own levels above it tell nothing."""
    frames = [_frame(file, line, function, line_map, script) for file, line, function in failure.frames]
    first = next((place for place, frame in enumerate(frames) if frame.cell is not None), None)
    if first is None:
        first = next((place for place, frame in enumerate(frames) if frame.file == str(script)), 0)
    return tuple(replace(frame, last_seen=failure.died) for frame in frames[first:])


def _frame(file: str, line: int, function: str, line_map: Mapping[int, Mapping[str, Any]], script: Path) -> Frame:
    if Path(file) != script:
        return Frame(file, line, function)
    if line not in line_map:
        return Frame(file, line, function, source=_line_of(script, line))
    origin = line_map[line]
    return Frame(file, line, function, origin.get("cell"), origin.get("line"), str(origin.get("source", "")))


def _line_of(script: Path, line: int) -> str:
    try:
        return text_of(script).splitlines()[line - 1]
    except (OSError, IndexError):
        return ""


def in_cells(stack: str, line_map: Mapping[int, Mapping[str, Any]], script: Path) -> str:
    """The text of a stack (of a hang) with the script's lines as cells and lines."""

    def place(match: re.Match[str]) -> str:
        origin = line_map.get(int(match[1]))
        return match[0] if origin is None else f"cell {origin.get('cell')}, line {origin.get('line')}"

    return re.sub(rf'File "{re.escape(str(script))}", line (\d+)', place, stack)


def last_lines(folder: RunFolder, rank: int | None, count: int = LAST_LINES) -> list[str]:
    """What a rank, or the main process, printed last; of a crash, from the line that tells of it."""
    for path in (folder.stderr, folder.stdout) if rank is None else (folder.log(rank), folder.stderr):
        if lines := _tail(path):
            crash = next((place for place, line in enumerate(lines) if line.startswith("Fatal Python error")), None)
            return lines[-count:] if crash is None else lines[crash : crash + count]
    return []


def _tail(path: Path) -> list[str]:
    try:
        with reading(path) as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - (1 << 16)))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return [line for line in re.split(r"[\r\n]+", text) if line.strip()]
