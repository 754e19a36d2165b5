"""A run on disk, as a feed follows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nbddp.diagnostics import Diagnostic
from nbddp.run.folder.files import reading
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.line_map import read_line_map
from nbddp.run.log.reading import LogReader, new_lines
from nbddp.run.run import Run
from nbddp.run.state.state import RunState
from nbddp.run.supervision.culprit import frames_of, in_cells
from nbddp.widget.feed import Feed, follow
from nbddp.widget.subject import Subject

TAIL = 1 << 17  # bytes of a log that are read: five hundred lines of some length


class RunView:
    """State and log tails of a run; a log that has not grown is not read again."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._tails: dict[int, tuple[tuple[int, int], str]] = {}
        self._log = LogReader(run.folder, 0)

    @property
    def state(self) -> RunState:
        """What a bounded piece of reading brought: during a burst a view may lag, but it never stops."""
        state = self._run.watch.look()
        return self._run.state if state.over else state

    def log_tail(self, rank: int) -> str:
        path = self._run.folder.log(rank)
        try:
            now = path.stat()
            known = self._tails.get(rank)
            if known is None or known[0] != (now.st_size, now.st_mtime_ns):
                self._tails[rank] = (now.st_size, now.st_mtime_ns), _tail(path, now.st_size)
        except OSError:  # not there yet, or no longer: what was read stays
            pass
        return self._tails[rank][1] if rank in self._tails else ""

    def printed(self, *, last: bool) -> Iterator[str]:
        return new_lines(self._log, last)


def watch(run: Run, diagnostics: tuple[Diagnostic, ...] = (), *, plain: bool = False) -> Feed:
    """Show this run in the output of the cell that calls, with its buttons and with its failures in cells and lines."""
    return follow(RunView(run), subject_of(run.folder, diagnostics), run.stop, plain=plain)


def subject_of(folder: RunFolder, diagnostics: tuple[Diagnostic, ...] = ()) -> Subject:
    """What there is to show of the run in this folder, whether or not anybody follows it."""
    origins = read_line_map(folder.line_map)

    def explain(state: RunState) -> str:
        culprit = state.culprit
        if culprit is None or not (frames := frames_of(culprit, origins, folder.script)):
            return ""
        return "\n".join((*map(str, frames), ": ".join(filter(None, (culprit.type, culprit.message)))))

    def locate(stack: str) -> str:
        return in_cells(stack, origins, folder.script)

    scalars = str(folder.scalars) if folder.scalars.is_dir() else ""
    return Subject(str(folder.script), diagnostics, explain, locate, scalars)


def _tail(path: Path, length: int) -> str:
    """The end of the file, from a line's beginning on."""
    with reading(path) as file:
        file.seek(max(0, length - TAIL))
        text = file.read(TAIL).decode("utf-8", "replace")
    return text if length <= TAIL else text.partition("\n")[2] or text
