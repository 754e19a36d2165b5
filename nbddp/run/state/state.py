"""What is known about a run at one moment. Every view (widget, terminal, panel, test) shows this and nothing else.

`fold` (in `nbddp.run.state.fold`) makes the next state from the last one and one event, and looks at neither clock nor
disk. Mappings in here are never changed in place: a new state gets a new mapping, so that a view can keep any state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from signal import Signals
from typing import Any, TypeVar

from nbddp.run.state.curve import Curve

T = TypeVar("T")
Event = Mapping[str, Any]

PHASES = (
    "queued", "starting", "training", "finishing-epoch", "stopping", "done", "failed", "stopped", "killed", "lost",
)  # fmt: skip
OVER = frozenset({"done", "failed", "stopped", "killed", "lost"})


@dataclass(frozen=True)
class Rank:
    """One training process, as far as it has reported."""

    rank: int
    pid: int | None = None
    device: str = ""
    device_name: str = ""
    phase: str = "starting"  # starting, training, done, failed, killed
    step: int = 0
    epoch: int | None = None
    time: float | None = None  # when it last reported, in seconds since the epoch
    rate: float | None = None  # steps a second, smoothed
    samples: int | None = None  # of a step
    last_samples: int | None = None  # of the last step of an epoch, which may have fewer
    memory: int | None = None  # bytes that torch has allocated
    used: int | None = None  # bytes of its GPU, by whomever
    total: int | None = None  # bytes that its GPU has
    busy: int | None = None  # per cent of the time
    line: str = ""  # the last that it printed, without escape sequences
    place: tuple[str, int, str] | None = None  # (file, line, function) where it last reported
    host: str = ""  # the machine that it runs on

    def samples_per_step(self, batches: int | None) -> float | None:
        """On average over an epoch."""
        if self.samples is None or self.last_samples is None or not batches:
            return self.samples
        return self.samples + (self.last_samples - self.samples) / batches


@dataclass(frozen=True)
class Failure:
    """One rank's end that was none, or the main process's (rank None)."""

    rank: int | None
    type: str  # the exception's class, or the signal's name for a process that was killed
    message: str
    time: float
    victim: bool = False  # fell because another rank did
    text: str = ""  # the full traceback
    frames: tuple[tuple[str, int, str], ...] = ()  # (file, line, function), outermost first
    pid: int | None = None
    died: bool = False  # it did not say so itself: its parent found it dead
    epoch: int | None = None  # where its rank was at the time
    step: int | None = None


@dataclass(frozen=True)
class Notice:
    """A warning of a rank; one that is repeated is counted, not listed again."""

    rank: int | None
    message: str
    time: float | None
    count: int = 1


@dataclass(frozen=True)
class NotANumber:
    """The first value that was no finite number."""

    name: str
    rank: int | None = None
    epoch: int | None = None
    step: int | None = None


@dataclass(frozen=True)
class Hang:
    """Nothing was heard for a while: where each rank was found. It may still go on; then this goes away."""

    time: float
    quiet: float  # seconds without a word
    stacks: Mapping[str, str] = field(default_factory=dict)  # "0", "1", ... or "main" -> the text of its stack


@dataclass(frozen=True)
class Exit:
    """How the processes ended."""

    status: int | None  # None where a signal ended the main process
    signal: str | None = None  # its name
    cause: str = ""  # a sentence where there is something to say

    @property
    def code(self) -> int:
        """What a command line that ran it returns: as a shell would, 128 and the number for a signal."""
        if self.status is not None:
            return self.status
        return 128 + Signals[self.signal] if self.signal and self.signal in Signals.__members__ else 1


@dataclass(frozen=True)
class Job:
    """What a run is to the engine that it was given to."""

    engine: str
    number: str  # by which the engine knows it
    partition: str = ""
    nodes: str = ""  # once it has some
    reason: str = ""  # why it waits, in words
    waits: bool = True  # in the queue, as far as the engine has said
    silent: bool = False  # the engine does not answer


@dataclass(frozen=True)
class Attempt:
    """One that is over, of a run that an engine has started again."""

    began: float | None
    ended: float | None
    why: str = ""  # in words; empty where nobody could say


@dataclass(frozen=True)
class RunState:
    """The whole of what a view needs."""

    phase: str = "starting"
    name: str = ""
    start: str = ""  # "warm" or "cold"
    why_cold: str = ""  # a sentence where a warm start was wanted and not had
    pid: int | None = None  # of the process that watches over the run; also the number of its session
    nproc: int | None = None  # asked for; None where the script chooses
    world_size: int | None = None  # what the ranks report
    started: float | None = None  # seconds since the epoch
    first_step: float | None = None
    updated: float | None = None
    ended: float | None = None
    ranks: Mapping[int, Rank] = field(default_factory=dict)
    epoch: int | None = None  # 0-based
    epochs: int | None = None
    batch: int | None = None  # 1-based position in the epoch
    batches: int | None = None
    step: int = 0  # optimizer steps of rank 0 so far
    steps: int | None = None
    rate: float | None = None  # steps a second, smoothed over some seconds
    eta: float | None = None  # seconds left, as seen at `updated`
    values: Mapping[str, float] = field(default_factory=dict)  # the latest of each name
    history: tuple[Mapping[str, float], ...] = ()  # one row an epoch: "epoch", "seconds", and its metrics by name
    printed: tuple[Mapping[str, float], ...] = ()  # rows read from printed lines that name an epoch, as they number it
    curves: Mapping[str, Curve] = field(default_factory=dict)  # "step:loss", "epoch:accuracy", "printed:val_loss"
    gauges: Mapping[str, Curve] = field(default_factory=dict)  # of the ranks' GPUs, over the seconds of the run
    links: Mapping[str, str] = field(default_factory=dict)  # address that a tracker has printed -> its name
    sums: frozenset[str] = frozenset()  # names of values that mean something only when they are divided
    warnings: tuple[Notice, ...] = ()
    nan: NotANumber | None = None
    failures: tuple[Failure, ...] = ()
    hang: Hang | None = None
    checkpoint: str | None = None  # path of the latest
    result: str | None = None  # path, once it is complete
    stop: str | None = None  # grade asked for: "epoch", "now", "kill"
    exit: Exit | None = None
    lost: str = ""  # a sentence: why nothing more will be heard
    unreadable: int = 0  # lines of events.jsonl that made no sense
    epoch_began: float | None = None
    epoch_seconds: tuple[float, ...] = ()  # how long the last ones took
    progress_at_first_step: float = 0.0
    job: Job | None = None  # none where it runs on the machine that started it
    attempts: tuple[Attempt, ...] = ()  # those before this one
    attempt_began: float | None = None
    resuming: bool = False  # a later attempt has begun, and not yet come to an epoch

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.phase in OVER

    @property
    def culprit(self) -> Failure | None:
        """Who failed first: the earliest that is no consequence of another's end."""
        causes = [failure for failure in self.failures if not failure.victim] or list(self.failures)
        return min(causes, key=lambda failure: failure.time, default=None)

    @property
    def progress(self) -> float | None:
        """How much of the training is done, from 0 to 1; None where its length is not known."""
        if self.phase == "done":
            return 1.0
        if self.steps:
            return min(1.0, self.step / self.steps)
        if not self.epochs or self.epoch is None:
            return None
        within = self.batch / self.batches if self.batch and self.batches else 0.0
        return min(1.0, (self.epoch + min(within, 1.0)) / self.epochs)

    @property
    def average_rate(self) -> float | None:
        """Steps a second from the first step on, evaluations and checkpoints included."""
        seconds = (self.updated or 0.0) - (self.first_step or 0.0)
        return (self.step - 1) / seconds if self.first_step is not None and self.step > 1 and seconds > 0 else None

    @property
    def samples_rate(self) -> float | None:
        """Samples a second of all ranks together, by now or, at the end, on average; None where some are not known."""
        found = [rank.samples_per_step(self.batches) for rank in self.ranks.values()]
        rate = self.average_rate if self.over else self.rate
        known = [number for number in found if number is not None]
        complete = len(known) == len(found) == (self.world_size or len(found))
        return rate * sum(known) if rate and known and complete else None

    def elapsed(self, now: float) -> float | None:
        """Seconds since the launch, or between launch and end; for an ended run the clock stands."""
        end = self.ended if self.ended is not None else (self.updated if self.over else now)
        return None if self.started is None or end is None else max(0.0, end - self.started)


def changed(value: T, **changes: object) -> T:
    """`dataclasses.replace` without its cost: a fold makes one such copy for each of a hundred thousand events."""
    copy = object.__new__(type(value))
    copy.__dict__.update(value.__dict__)
    copy.__dict__.update(changes)
    return copy


Fold = Callable[[RunState, Event], RunState]
