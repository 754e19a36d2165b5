"""A run, to whoever holds it: start, watch, stop, get back. All of it is on disk; this object keeps nothing else."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nbddp.run.engines.choose import asked_for
from nbddp.run.folder.errors import LaunchFailed, NoSuchRun
from nbddp.run.folder.files import text_of
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import create, remove
from nbddp.run.folder.result import Result, read_result
from nbddp.run.processes.interrupts import breakable, check
from nbddp.run.processes.process import Entry
from nbddp.run.processes.session import KILL_WITHIN, members
from nbddp.run.start.command import Origin, RunOptions, build
from nbddp.run.start.launch import Helper
from nbddp.run.state.state import RunState
from nbddp.run.stop import withdraw
from nbddp.run.supervision.culprit import RunFailed, failure_of, last_lines
from nbddp.run.supervision.leader import leader_of
from nbddp.run.watch import Watch
from nbddp.watch_points import WatchPoint, to_json

ANSWERED_WITHIN = 5.0  # seconds, by an engine that has to be asked
EVERY = 0.1  # seconds between two states at least
RESUMABLE = ("epochs", "turns", "start")  # kinds of what is watched, that load a checkpoint
AT_LEAST_EVERY = 1.0  # seconds between two states at most, so that clocks go on


class Run:
    """One run. Holding it or dropping it makes no difference to the run itself."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.watch = Watch(folder)

    @classmethod
    def start(  # noqa: PLR0913 -- all but two have defaults that fit a kernel
        cls,
        script: str,
        name: str,
        options: RunOptions | None = None,
        *,
        root: Path | None = None,
        origin: Origin | None = None,
        helper: Helper = None,
        line_map: Sequence[Mapping[str, Any]] = (),
        watch: Iterable[WatchPoint] = (),
        fill: Callable[[RunFolder], object] | None = None,
    ) -> Run:
        """Write the script into a new folder and start it; back as soon as it has a supervisor.

        `fill` puts further files into the folder before the start: what it writes to `folder.start` is the state that
        the training begins with. With a helper it starts warm if it can. Interrupted on the way, it leaves nothing;
        who calls holds interrupts back, so that none comes between this and the name that the run gets there.
        """
        options, origin, watch = options or RunOptions(), origin or Origin.here(), tuple(watch)
        if options.resume and not any(point.watch.kind in RESUMABLE for point in watch):
            raise LaunchFailed("There is nothing to resume: nbddp found no loop over epochs in the training.")
        folder = _prepared(script, name, root or origin.cwd, line_map, watch)
        engine = asked_for(options)
        try:
            if options.tensorboard:
                folder.scalars.mkdir(mode=0o700)
            if fill is not None:
                breakable(partial(fill, folder))
            engine.submit(folder, name, options, build(folder, options, script, origin), helper)
            run = cls(folder)  # in here: an interrupt that comes now finds a run that nobody knows of
            run.watch.keeps = True
            check()
            return run
        except BaseException as error:
            engine.stop(folder, "kill")
            withdraw(folder)
            if isinstance(error, OSError):
                raise LaunchFailed(f"The run could not be started: {error}.") from error
            raise

    @classmethod
    def attach(cls, folder: RunFolder | Path | str) -> Run:
        """A run that is there already, whoever started it."""
        found = folder if isinstance(folder, RunFolder) else RunFolder(Path(folder).resolve())
        if not found.path.is_dir():
            raise NoSuchRun(f"there is no run in {found.path}")
        return cls(found)

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return self.folder.name

    @property
    def state(self) -> RunState:
        """What is known of it now."""
        return self.watch.catch_up()

    def follow(self, every: float = EVERY) -> Iterator[RunState]:
        """A state when there is something new, at most so often, and once a second; the last is that of the end."""
        last, shown_at = None, 0.0
        while True:
            state = self.watch.look()
            complete, waited = self.watch.complete, time.monotonic() - shown_at
            if complete or (waited >= every and state is not last) or waited >= AT_LEAST_EVERY:
                yield state
                last, shown_at = state, time.monotonic()
            if complete:
                return
            time.sleep(every / 10 if self.watch.behind else every / 2)

    def wait(self, timeout: float | None = None) -> RunState:
        """The state at the end, when none of its processes is left; or at the time-out, when it is not over."""
        until = float("inf") if timeout is None else time.monotonic() + timeout
        while True:
            state = self.state
            if state.over:
                until = min(until, time.monotonic() + KILL_WITHIN)  # for one that not even killing ends
            if (state.over and not self.processes()) or time.monotonic() >= until:
                return state
            time.sleep(EVERY / 2)

    def stop(self, grade: str = "now") -> list[int]:
        """Stop it: "epoch", "now" or "kill". Numbers of processes that could not be ended come back; mostly none."""
        return list(self.watch.engine.stop(self.folder, grade))

    def processes(self) -> list[Entry]:
        """Those of its processes on this machine that live, the supervisor among them; of a job none can be seen."""
        leader = None if self.folder.job.exists() else leader_of(self.folder)
        return [] if leader is None else members(leader, self.folder.path)

    @property
    def lives(self) -> bool:
        """Whether anything of it is left, as far as can be told."""
        lives = self.watch.engine.state(self.folder, ANSWERED_WITHIN).lives
        return not self.state.over if lives is None else lives

    @property
    def script(self) -> str:
        """The text that runs."""
        return text_of(self.folder.script)

    def log(self, rank: int = 0, last: int | None = None) -> str:
        """What a rank has printed so far, all of it or the last so many lines."""
        if last is not None:
            return "\n".join(last_lines(self.folder, rank, last))
        path = self.folder.log(rank)
        return text_of(path) if path.exists() else ""

    @property
    def history(self) -> list[dict[str, float]]:
        """A row for each epoch; where the script reports none, what its printed lines say."""
        state = self.state
        return [dict(row) for row in state.history or state.printed]

    def result(self) -> Result:
        """What it brought back; NoResult where it did not, or not yet."""
        return read_result(self.folder.result)

    def load(self, name: str) -> Any:
        """One state or value by the name that it has in the notebook."""
        return self.result()[name]

    @property
    def failure(self) -> RunFailed | None:
        """What went wrong, if it is over and something did."""
        return failure_of(self.folder, self.state)

    def __repr__(self) -> str:
        return f"<Run {self.name}: {self.state.phase}>"


def _prepared(
    script: str, name: str, root: Path, line_map: Sequence[Mapping[str, Any]], watch: Iterable[WatchPoint]
) -> RunFolder:
    try:
        folder = create(root, name)
        try:
            folder.script.write_text(script, encoding="utf-8")
            folder.line_map.write_text(json.dumps(list(line_map)), encoding="utf-8")
            folder.watch.write_text(to_json(watch), encoding="utf-8")
        except OSError:
            remove([folder])
            raise
    except OSError as error:
        raise LaunchFailed(f"The run's folder could not be made in {root}: {error.strerror or error}.") from error
    return folder
