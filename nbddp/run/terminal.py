"""A run on a terminal: a live display where there is one, elsewhere what rank 0 prints, as it prints it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from nbddp.run.log.reading import MOST_SHOWN, LogReader, new_lines
from nbddp.run.processes.interrupts import answer, breakable, held_back
from nbddp.run.run import Run
from nbddp.run.state.endings import GRADES
from nbddp.run.state.state import RunState
from nbddp.run.state.words import curves_worth_showing, headline, load, notes, number, queued, samples, sparkline

COLOURS = {"done": "green", "failed": "red", "killed": "red", "lost": "red", "stopped": "yellow"}
INTERRUPTED = 130  # the exit status of a command ended by Ctrl-C
STOPPING = {
    "epoch": "Finishing this epoch; Ctrl-C again stops now.",
    "now": "Stopping now; Ctrl-C again kills.",
    "kill": "Killing it.",
}


def show(run: Run, out: TextIO | None = None, interrupt_stops: bool = True) -> int:
    """Show a run until it is over, and return its exit status. A failure is told on standard error.

    Ctrl-C stops it, each further time harder; where it is only looked at, Ctrl-C looks away.
    """
    console = Console(file=out or sys.stdout, highlight=False)
    log = LogReader(run.folder, 0, MOST_SHOWN if console.is_terminal else sys.maxsize)
    watch = partial(_live if console.is_terminal else _lines, run, log, console)
    with held_back():
        for grade in (None, *GRADES) if interrupt_stops else (None,):
            status = _uninterrupted(run, watch, grade)
            if status is not None:
                return status
        answer()
    if run.lives:
        print(f"\n{run.name} continues; see it again with: nbddp attach {run.name}", file=sys.stderr)
    return INTERRUPTED


def _uninterrupted(run: Run, watch: Callable[[], None], grade: str | None) -> int | None:
    """The exit status, where it comes to that; of several interrupts at once each counts, the next at the next step."""
    try:
        if grade:
            _stop(run, grade)
        breakable(watch)
        return breakable(partial(conclude, run))
    except KeyboardInterrupt:
        answer(1)
        return None


def _stop(run: Run, grade: str) -> None:
    """Harder where an interrupt comes meanwhile; nothing is harder than the last grade, so that it is carried out."""
    print(f"\n{STOPPING[grade]}", file=sys.stderr)
    stop = partial(run.stop, grade)
    stop() if grade == GRADES[-1] else breakable(stop)


def conclude(run: Run) -> int:
    """The last words about a run, and its exit status."""
    state = run.wait(20.0)
    if failure := run.failure:
        print(failure, file=sys.stderr)
    elif state.exit and state.exit.cause:
        print(state.exit.cause, file=sys.stderr)
    print(f"{headline(state, time.time())} · {run.folder.path}", file=sys.stderr)
    return state.exit.code if state.exit else 1


def _live(run: Run, log: LogReader, console: Console) -> None:
    with Live(console=console, auto_refresh=False, redirect_stderr=False, redirect_stdout=False) as live:
        for state in run.follow():
            if lines := list(new_lines(log, state.over)):
                live.console.print(Text("\n".join(lines)))
            live.update(screen(state, time.time(), console.width), refresh=True)


def _lines(run: Run, log: LogReader, console: Console) -> None:
    told: set[str] = set()
    for state in run.follow():
        for line in new_lines(log, state.over):
            console.file.write(f"{line}\n")
        console.file.flush()
        for note in (*filter(None, [queued(state)]), *notes(state)):
            if note not in told:
                told.add(note)
                print(note, file=sys.stderr)


def screen(state: RunState, now: float, width: int) -> RenderableType:
    """One picture of the state."""
    parts: list[RenderableType] = [Text(headline(state, now), style=f"bold {COLOURS.get(state.phase, '')}".strip())]
    bars = _bar("epoch", _epochs_done(state), state.epochs), _bar("batch", state.batch, state.batches)
    parts += [bar for bar in bars if bar]
    parts += [_curve(curve.name, [y for _, y in curve.points], width) for curve in curves_worth_showing(state)]
    if state.ranks:
        parts.append(_ranks(state, width))
    parts += [Text(note, style="yellow") for note in notes(state)]
    return Group(*parts)


def _epochs_done(state: RunState) -> int | None:
    return None if state.epoch is None else state.epoch + 1


def _bar(name: str, done: int | None, total: int | None) -> RenderableType | None:
    if done is None:
        return None
    if not total:
        return Text(f"{name:>8} {done}")
    table = Table.grid(padding=(0, 1))
    table.add_row(Text(f"{name:>8}"), ProgressBar(total=total, completed=done, width=40), Text(f"{done}/{total}"))
    return table


def _curve(name: str, values: list[float], width: int) -> RenderableType:
    room = max(10, width - 40)
    return Text.assemble((f"{name[:20]:>20} ", "bold"), f"{number(values[-1]):>10} ", (sparkline(values, room), "cyan"))


def _ranks(state: RunState, width: int) -> RenderableType:
    several = len({rank.host for rank in state.ranks.values()}) > 1
    table = Table.grid(padding=(0, 2))
    for rank in sorted(state.ranks.values(), key=lambda rank: rank.rank):
        line = Text(rank.line[: max(10, width - 50)], style="dim", no_wrap=True, overflow="ellipsis")
        cells = (
            f"rank {rank.rank}",
            f"{rank.host} {rank.device}" if several else rank.device,
            rank.phase,
            f"step {rank.step}  {samples(rank, state)}".rstrip(),
            load(rank),
        )
        table.add_row(*(Text(cell) for cell in cells), line)
    return table
