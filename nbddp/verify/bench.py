"""The runs of one verification, in a folder of their own that is gone afterwards, with all that was started in it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.interrupts import held_back
from nbddp.run.processes.process import ProcessId, identify
from nbddp.run.run import Run
from nbddp.run.start.command import Origin, RunOptions
from nbddp.run.start.launch import Helper
from nbddp.run.start.machine_facts import gpus, visible
from nbddp.run.start.packages import packages_of
from nbddp.run.start.warm import WarmHelper
from nbddp.run.state.state import RunState
from nbddp.run.supervision.culprit import RunFailed
from nbddp.verify.instrument import Spec, probed
from nbddp.verify.trace import Trace, read
from nbddp.watch_points import WatchPoint

QUIET = 60.0  # seconds without a word after which ranks are asked what they wait for
WAITING = ("distributed_c10d", "_engine_run_backward", "monitored_barrier", "enough")
Orders = Mapping[str, list[list[int]]]
Batches = list[list[list[int]]]


@dataclass(frozen=True)
class Asked:
    """What stays the same in all runs of a verification."""

    script: str
    cells: str | None  # the notebook's own statements; None: the script on one process stands for them
    steps: int = 20
    nproc: int = 2
    seed: int = 0
    fill: Callable[[RunFolder], object] | None = None  # puts the state there that the training starts from
    arguments: tuple[str, ...] = ()
    watch: tuple[WatchPoint, ...] = ()  # of the script: the state that it starts from goes in there
    origin: Origin | None = None  # where there is another than this process
    whole: bool = False  # each process draws whole batches, in the notebook's own order, and takes its part


class Bench:
    """Runs either side as often as is asked, with one construct or another taken away."""

    def __init__(self, asked: Asked, helper: Helper, say: Callable[[str], object]) -> None:
        self.asked, self.helper, self.say = asked, helper, say
        if isinstance(helper, WarmHelper):
            helper.load(packages_of(asked.script))
        self.root = Path(tempfile.mkdtemp(prefix="nbddp-verify-"))
        self.running: Run | None = None
        self.count = 0
        me: ProcessId | None = identify(os.getpid())
        self.spec = Spec(asked.steps, asked.seed, me.as_json() if me else {}, threads=_threads(asked.nproc),
                         whole=asked.whole)  # fmt: skip

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            self._stop()
        finally:
            shutil.rmtree(self.root, ignore_errors=True)

    def _stop(self) -> None:
        """What still runs is ended, also when a second interrupt breaks into that."""
        while self.running is not None:
            with contextlib.suppress(KeyboardInterrupt):
                self.running.stop("kill")
                _unlink(read(self.running.folder, self.asked.nproc).created)
                self.running = None

    def many(self, without: tuple[str, ...] = (), *, batches: Batches, cut: bool = True) -> Trace:
        """The script on all processes; `batches` are taken by each of them, in place of its share."""
        spec = replace(self.spec, without=without, batches=batches, cut=cut, processes=self.asked.nproc)
        return self._run(probed(self.asked.script, spec), self.asked.nproc, told=True)

    def one(self, without: tuple[str, ...] = (), *, order: Orders, batches: Batches, cut: bool = True) -> Trace:
        """The notebook on one process; where its cells are not known, or do not start from a live state, the script."""
        spec = replace(self.spec, without=without, batches=batches, cut=cut)
        if self.asked.cells is None:
            return self._run(probed(self.asked.script, spec), 1, told=True)
        alone = replace(spec, alone=True, order=dict(order))
        return self._run(probed(self.asked.cells, alone), 1, told=False)

    def _run(self, text: str, nproc: int, *, told: bool) -> Trace:
        options = RunOptions(quiet=QUIET)
        if told:
            options = replace(options, nproc=nproc, seed=self.asked.seed, arguments=self.asked.arguments)
        self.count += 1
        with held_back():
            self.running = run = Run.start(
                text,
                f"verify-{self.count}",
                options,
                root=self.root,
                origin=self._origin(),
                helper=self.helper,
                watch=self.asked.watch if told else (),
                fill=self.asked.fill if told else None,
            )
        failure = _end_of(run)
        self.running = None
        trace = read(run.folder, nproc, failure)
        _unlink(trace.created)  # at once: the next run must not go on from this one's checkpoint
        return trace

    def _origin(self) -> Origin:
        """On the processor where there is no GPU for each process: that proves the same."""
        here = self.asked.origin or Origin.here()
        environ = dict(here.environ)
        if len(visible(gpus(), environ)) < self.asked.nproc:
            environ["CUDA_VISIBLE_DEVICES"] = ""
        if not isinstance(self.helper, WarmHelper):  # what that forks has one order of sets anyway
            environ.setdefault("PYTHONHASHSEED", "0")
        return replace(here, environ=environ)


def _unlink(names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(OSError):
            Path(name).unlink()


def _threads(nproc: int) -> int:
    return max(1, (os.cpu_count() or 1) // nproc)


def _end_of(run: Run) -> str:
    """A sentence where it has not ended well."""
    for state in run.follow():
        if _hangs(state):
            run.stop("kill")
            run.wait(20.0)
            return "The processes wait for each other forever: they do not take the same steps."
    run.wait(20.0)
    failure = run.failure
    return _in_a_sentence(failure) if failure is not None else ""


def _hangs(state: RunState) -> bool:
    """Nothing is heard, and each rank that was asked is found waiting for another."""
    stacks = state.hang.stacks.values() if state.hang else ()
    return bool(stacks) and all(any(word in stack for word in WAITING) for stack in stacks)


def _in_a_sentence(failure: RunFailed) -> str:
    """Who failed, of what, and where in the notebook."""
    if "out of memory" in f"{failure.type} {failure.message}".lower() or failure.type == "OutOfMemoryError":
        return f"{OUT_OF_MEMORY}: {failure.message.splitlines()[0] if failure.message else failure.type}"
    if failure.type == "SIGKILL":
        return f"{OUT_OF_MEMORY}: {failure.cause or 'a process was killed.'}"
    said = ": ".join(part for part in (failure.type, failure.message.strip()) if part) or failure.cause
    if not failure.type and failure.log:  # it ended without an exception that a rank could have told
        said = failure.log[-1].strip()
    if failure.type == "SystemExit":  # the script's own sentence
        return failure.message.strip()
    where = next((f" ({frame.source.strip()})" for frame in reversed(failure.frames) if frame.source.strip()), "")
    return f"{said}{where}"


OUT_OF_MEMORY = "memory ran out"
