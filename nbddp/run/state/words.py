"""Numbers and states in words, the same in every view."""

from __future__ import annotations

from collections.abc import Sequence

from nbddp.run.state.curve import Curve
from nbddp.run.state.shown import shown_curves
from nbddp.run.state.state import Rank, RunState
from nbddp.sentence import NOTHING, Sentence, sentence

TITLES = {"slurm": "SLURM", "ray": "Ray", "kubernetes": "Kubernetes"}
BLOCKS = "▁▂▃▄▅▆▇█"


def duration(seconds: float | None) -> str:
    """`0:07`, `12:34`, `1:02:03`; nothing for what is not known."""
    if seconds is None:
        return ""
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def size(count: float | None) -> str:
    """Bytes, as devices count them."""
    if count is None:
        return ""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if count >= 10 or unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return ""


def load(rank: Rank) -> str:
    """How full its GPU is and how busy; without a look at the GPU, what torch has allocated there."""
    if rank.used is None:
        return size(rank.memory)
    full = size(rank.used) + (f" of {size(rank.total)}" if rank.total else "")
    return full if rank.busy is None else f"{full}, {rank.busy} % busy"


def samples(rank: Rank, state: RunState) -> str:
    """Of this rank, a second."""
    many = rank.samples_per_step(state.batches)
    return f"{number(many * rank.rate)} samples/s" if many and rank.rate else ""


def number(value: float) -> str:
    """Short, and never rounded to nothing."""
    return f"{value:.4g}"


def rate(state: RunState) -> str:
    """Steps a second, or seconds a step where they are slow; samples a second of all ranks where they are known."""
    if not state.rate:
        return ""
    steps = f"{number(state.rate)} steps/s" if state.rate >= 1 else f"{number(1 / state.rate)} s/step"
    return f"{steps}, {number(state.samples_rate)} samples/s" if state.samples_rate else steps


def no_log(name: str, rank: object, there: Sequence[int]) -> str:
    """Of a rank that there is not, or that has printed nothing."""
    known = f"there are logs of {', '.join(map(str, there))}" if there else "no rank has printed anything yet"
    return f"{name} has no log of rank {rank}: {known}."


def headline(state: RunState, now: float) -> str:
    """Name, phase, and for how long."""
    words = [
        state.name,
        queued(state) or state.phase.replace("-", " "),
        duration(state.elapsed(now)),
        rate(state) if not state.over else "",
    ]
    left = f"{duration(state.eta)} left" if state.eta is not None and not state.over else ""
    return " · ".join(word for word in (*words, left) if word)


def queued(state: RunState) -> Sentence:
    """Where a run that waits does so, and why; nothing of others."""
    if state.phase != "queued" or state.job is None:
        return NOTHING
    where = sentence("queued as job %1", state.job.number)
    if state.job.partition:
        where = sentence("queued as job %1 in partition %2", state.job.number, state.job.partition)
    return sentence("%1: %2", where, state.job.reason) if state.job.reason else where


def of_job(state: RunState) -> list[Sentence]:
    """What else there is to say of one: earlier attempts, and silence of its engine."""
    said = []
    for number, attempt in enumerate(state.attempts, start=1):
        ran = duration(None if attempt.began is None or attempt.ended is None else attempt.ended - attempt.began)
        why = attempt.why or sentence("SLURM ended it, as after a node's failure")
        said.append(sentence("Attempt %1 ended after %2, to be continued: %3.", number, ran or "0:00", why))
    if state.job is not None and state.job.silent and not state.over:
        title = TITLES.get(state.job.engine, "SLURM")
        said.append(sentence("%1 does not answer at the moment; the run itself goes on.", title))
    return said


def notes(state: RunState) -> list[str]:
    """What a person should know beside the numbers, a sentence each."""
    said = [f"It started cold. {state.why_cold}"] if state.why_cold else []
    said += of_job(state)
    if state.nan is not None:
        where = [f"epoch {state.nan.epoch}"] if state.nan.epoch is not None else []
        where += [f"step {state.nan.step}"] if state.nan.step is not None else []
        said.append(f"{state.nan.name} is not a finite number" + (f" since {', '.join(where)}." if where else "."))
    if state.hang is not None:
        said.append(f"No progress for {duration(state.hang.quiet)}; `nbddp attach` shows where each rank waits.")
    for notice in state.warnings:
        times = f" ({notice.count} times)" if notice.count > 1 else ""
        said.append(notice.message if notice.rank is None else f"rank {notice.rank}: {notice.message}{times}")
    return said


def sparkline(values: Sequence[float], width: int) -> str:
    """A curve in one line of text; each place shows the latest of the values that fall on it."""
    if not values or width < 1:
        return ""
    places = min(width, len(values))
    shown = [values[(place + 1) * len(values) // places - 1] for place in range(places)]
    low, high = min(shown), max(shown)
    scale = (len(BLOCKS) - 1) / (high - low) if high > low else 0.0
    return "".join(BLOCKS[round((value - low) * scale)] for value in shown)


def curves_worth_showing(state: RunState, most: int = 4) -> list[Curve]:
    """Those with at least two points, what is summed up per epoch first; of one name only the first."""
    order = {"epoch": 0, "step": 1, "printed": 2}
    drawn = sorted((c for c in shown_curves(state).values() if c.seen > 1), key=lambda curve: order[curve.source])
    by_name: dict[str, Curve] = {}
    for curve in drawn:
        by_name.setdefault(curve.name, curve)
    return list(by_name.values())[:most]
