"""What the command line does with runs, as functions: each prints for a person and returns an exit status."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbddp.run import summaries
from nbddp.run.doctor import doubts, only_whole_epochs, ready
from nbddp.run.folder.about import read_about
from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import bytes_in, runs_in
from nbddp.run.folder.line_map import read_line_map
from nbddp.run.folder.lookup import find
from nbddp.run.processes.interrupts import held_back
from nbddp.run.prune import Bytes, glance, prune
from nbddp.run.run import Run
from nbddp.run.start.command import Origin, RunOptions
from nbddp.run.state.state import RunState
from nbddp.run.state.words import duration, no_log, number, queued, size
from nbddp.run.supervision.culprit import failure_of, in_cells
from nbddp.run.terminal import show
from nbddp.watch_points import WatchPoint

FAILED, UNUSABLE = 1, 2  # exit statuses


def run(
    script: str,
    name: str,
    options: RunOptions,
    *,
    root: Path,
    line_map: Sequence[Mapping[str, Any]] = (),
    watch: Iterable[WatchPoint] = (),
    background: bool = False,
) -> int:
    """Start a script's run and show it to its end; in the background, only say how to see it."""
    origin = Origin.here()
    try:
        options, wrong = ready(root, options, origin)
    except LaunchFailed as error:
        wrong = [str(error)]
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        return UNUSABLE
    watch = tuple(watch)
    for doubt in (*doubts(options, origin), *only_whole_epochs(options, watch)):
        print(doubt, file=sys.stderr)
    options = replace(options, attended=not background)
    try:
        with held_back():
            started = Run.start(script, name, options, root=root, origin=origin, line_map=line_map, watch=watch)
            if not background:
                return show(started)
            how = "is queued" if options.job else "is running"
            print(f"{started.name} {how}; see it with: nbddp attach {started.name}")
    except LaunchFailed as error:
        print(error, file=sys.stderr)
        return FAILED
    return 0


def attach(root: Path, name: str | None = None) -> int:
    """Show a run that is there already, from its beginning; looking away does not end it."""
    attached = Run.attach(find(root, name))
    if hang := attached.state.hang:
        lines = read_line_map(attached.folder.line_map)
        for rank, stack in hang.stacks.items():
            print(f"rank {rank} waits here:\n{in_cells(stack, lines, attached.folder.script)}")
    return show(attached, interrupt_stops=False)


def stop(root: Path, name: str | None = None, grade: str = "now") -> int:
    """Stop a run. Status 1 where some of its processes could not be ended."""
    found = Run.attach(find(root, name))
    if not found.lives:
        print(f"{found.name} is not running.")
        return 0
    left = found.stop(grade)
    if grade == "epoch":
        print(f"{found.name} ends after this epoch.")
    elif left:
        print(f"These processes of {found.name} could not be stopped: {', '.join(map(str, left))}", file=sys.stderr)
    else:
        print(f"{found.name} has ended.")
    return FAILED if left else 0


def log(root: Path, name: str | None = None, rank: int = 0, last: int | None = None) -> int:
    """Print what a rank has printed."""
    found = Run.attach(find(root, name))
    if not found.folder.log(rank).exists():
        print(no_log(found.name, rank, found.folder.logged_ranks), file=sys.stderr)
        return FAILED
    text = found.log(rank, last)
    sys.stdout.write(text if text.endswith("\n") or not text else text + "\n")
    return 0


def runs(root: Path, keep: int | Bytes | None = None) -> int:
    """List the runs of a folder, the newest last; with `keep`, first delete all but the newest so many, or so large."""
    if keep is not None:
        for folder in prune(root, keep):
            print(f"deleted {folder.name}")
    folders = runs_in(root)
    if not folders:
        print(f"There are no runs in {root.absolute()}.")
    width = max((len(folder.name) for folder in folders), default=0)
    for folder in folders:
        state = glance(folder)
        print(f"{folder.name:{width}}  {_row(state)} · {size(bytes_in(folder))}{_reason(folder, state)}{_said(folder)}")
    return 0


def runs_as_json(root: Path, keep: int | Bytes | None = None) -> int:
    """The same for programs."""
    if keep is not None:
        prune(root, keep)
    print(json.dumps(summaries.runs(root), indent=2))
    return 0


def _reason(folder: RunFolder, state: RunState) -> str:
    """Why it failed, on a line of its own."""
    failure = failure_of(folder, state)
    return f"\n    {failure.text.splitlines()[0]}" if failure else ""


def _said(folder: RunFolder) -> str:
    """What a person has said of it, on lines of its own."""
    about = read_about(folder)
    return "".join(f"\n    {line}" for line in [about.title, *about.note.splitlines()] if line)


def _row(state: RunState) -> str:
    """Phase, duration, epochs, and the latest numbers."""
    epochs = "" if state.epoch is None else f"epoch {state.epoch + 1}" + (f"/{state.epochs}" if state.epochs else "")
    values = " ".join(f"{name} {number(value)}" for name, value in list(state.values.items())[:3])
    return f"{state.phase:15} {duration(state.elapsed(time.time())):>8}  {epochs:12} {values} {queued(state)}".rstrip()
