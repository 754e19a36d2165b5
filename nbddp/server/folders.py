"""Runs as the page may see them: those in folders below the server's root, and nothing else of the disk."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nbddp.run.folder.about import describe, read_about
from nbddp.run.folder.files import is_there, text_of
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import runs_in
from nbddp.run.prune import delete, glance
from nbddp.run.run import Run
from nbddp.run.summaries import summary_of
from nbddp.sentence import sentence
from nbddp.server.logs import MOST, Piece, read_on
from nbddp.widget.run_view import RunView, subject_of
from nbddp.widget.subject import Subject
from nbddp.widget.terminal import last_lines
from nbddp.widget.view import facts, snapshot

MOST_FOLLOWED = 8
RANK = re.compile(r"[0-9]{1,6}")


class NotHere(LookupError):
    """No such folder, run or file below the root; the text is a sentence."""


class GoesOn(RuntimeError):
    """What was asked cannot be done to a run that goes on; the text is a sentence."""


class Followed:
    """A run that some page looks at: what has been read of it is not read again."""

    def __init__(self, folder: RunFolder) -> None:
        self.run = Run.attach(folder)
        self.view = RunView(self.run)
        self.subject: Subject = subject_of(folder)

    def snapshot(self) -> dict[str, Any]:
        state = self.view.state
        logs = {rank: last_lines(self.view.log_tail(rank)) for rank in sorted({0, *state.ranks})}
        return snapshot(state, self.subject, now=time.time(), logs=logs)


class Folders:
    """Asked from the threads of a pool."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._lock = threading.Lock()
        self._followed: OrderedDict[Path, Followed] = OrderedDict()
        self._ended: dict[Path, tuple[tuple[tuple[int, int], ...], dict[str, Any]]] = {}

    def rows(self, folders: Iterable[str]) -> list[dict[str, Any]]:
        """The runs of these folders, the newest first; a folder that is not there has none."""
        found: list[dict[str, Any]] = []
        for folder in dict.fromkeys(folders):
            try:
                path = self._inside(folder)
            except NotHere:
                continue
            found += [{"folder": folder, **self._row(run), **asdict(read_about(run))} for run in runs_in(path)]
        return sorted(found, key=lambda row: str(row["name"]), reverse=True)

    def _row(self, run: RunFolder) -> dict[str, Any]:
        """A line of a list; of a run that has ended made once, since a page asks for a hundred again and again."""
        mark = _mark(run)
        known = self._ended.get(run.path)
        if known is not None and known[0] == mark:
            return {**known[1], "now": time.time()}
        state = glance(run)
        row = {**facts(state, Subject(), time.time()), "name": run.name, "notebook": state.name}
        row["checkpoint"] = is_there(run.checkpoint)
        if state.over:  # of one that goes on it would change all the time, and all of its events be read each time
            row["summary"] = asdict(summary_of(run, state))
        if row["over"] and row["phase"] != "lost":  # of which the end may still be found
            self._ended[run.path] = (mark, row)
        return row

    def snapshot(self, folder: str, name: str) -> dict[str, Any]:
        run = self._run(folder, name)
        with self._lock:
            followed = self._followed.setdefault(run.path, Followed(run))
            self._followed.move_to_end(run.path)
            while len(self._followed) > MOST_FOLLOWED:
                self._followed.popitem(last=False)
        return followed.snapshot()

    def stop(self, folder: str, name: str, grade: str) -> list[int]:
        """Numbers of processes that could not be ended."""
        return Run.attach(self._run(folder, name)).stop(grade)

    def describe(self, folder: str, name: str, title: str | None, note: str | None) -> dict[str, str]:
        """What is said of it from now on."""
        return asdict(describe(self._run(folder, name), title=title, note=note))

    def delete(self, folder: str, name: str) -> None:
        """For good: a run's folder goes to no bin. One that goes on is refused."""
        run = self._run(folder, name)
        if not delete(run):
            raise GoesOn(sentence("The run %1 still runs, or cannot be deleted: stop it first.", name))
        with self._lock:
            self._followed.pop(run.path, None)
            self._ended.pop(run.path, None)

    def place(self, folder: object) -> str | None:
        """Where it is on the disk, for modules beside a notebook; None where the server has no such folder."""
        try:
            return str(self._inside(folder)) if isinstance(folder, str) else None
        except NotHere:
            return None

    def script(self, folder: str, name: str) -> dict[str, Any]:
        path = self._run(folder, name).script
        try:
            return {"text": text_of(path)[-MOST:]}
        except OSError:
            raise NotHere(sentence("The run %1 has no script.", name)) from None

    def log(self, folder: str, name: str, rank: str, start: int | None = None) -> dict[str, Any]:
        """What a rank has printed, from a byte on; one that has printed nothing yet has a log while the run goes on."""
        run = self._run(folder, name)
        row = self._row(run)  # before the text is read: of a run that is over, all of it has been written
        ranks = [one["rank"] for one in row["ranks"]]
        path = run.log(int(rank)) if RANK.fullmatch(rank) else None
        if path is not None and is_there(path):
            piece = read_on(path, start)
        elif not row["over"] and rank in map(str, ranks or [0]):
            piece = Piece("")
        else:
            raise NotHere(sentence("The run %1 has no log of rank %2.", name, rank))
        return {**asdict(piece), "over": row["over"], "ranks": ranks}

    def _run(self, folder: str, name: str) -> RunFolder:
        for run in runs_in(self._inside(folder)):
            if run.name == name:
                return run
        raise NotHere(sentence("There is no run %1 in this folder.", name))

    def _inside(self, folder: str) -> Path:
        """Links are followed before it is asked whether the folder is below the root; so is that of the runs."""
        try:
            path = (self._root / folder.strip("/")).resolve()
            runs = (path / ".nbddp" / "runs").resolve()
            is_folder = path.is_dir()
        except (OSError, ValueError, RuntimeError):  # a loop of links, a null byte, a name that is too long
            raise NotHere(sentence("There is no such folder.")) from None
        if not is_folder or not path.is_relative_to(self._root) or not runs.is_relative_to(self._root):
            raise NotHere(sentence("There is no such folder."))
        return path


def _mark(run: RunFolder) -> tuple[tuple[int, int], ...]:
    """Another one where a file of events has changed."""
    found = []
    for path in run.event_files:
        with contextlib.suppress(OSError):
            stat = path.stat()
            found.append((stat.st_mtime_ns, stat.st_size))
    return tuple(found)
