"""What there is to say about a run beside its numbers, the gravest first: failures, silence, warnings, diagnostics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from nbddp.diagnostics import Diagnostic
from nbddp.run.state import Failure, Notice, RunState
from nbddp.run.words import duration
from nbddp.widget.subject import Subject
from nbddp.widget.words import count

MOST = 50
LONGEST = 20_000
ORDER = ("error", "warning", "note")


class Said(TypedDict):
    """One notice as the page shows it: a sentence, and a text behind it where there is more."""

    level: str
    text: str
    more: str


NOTHING = Subject()


def notices(state: RunState, subject: Subject = NOTHING) -> list[Said]:
    """All that there is to say."""
    found = [
        *_failures(state, subject.explanation(state)),
        *_ending(state),
        *_silence(state, subject),
        *_numbers(state),
        *map(_warning, state.warnings),
        *map(_diagnostic, subject.diagnostics),
    ]
    found.sort(key=lambda said: ORDER.index(said["level"]))
    if len(found) > MOST:
        found[MOST:] = [_said("note", f"{count(len(found) - MOST, 'notice')} more, all in the run's folder")]
    return found


def _said(level: str, text: str, more: str = "") -> Said:
    return {"level": level, "text": text, "more": more[-LONGEST:]}


def _failures(state: RunState, explanation: str) -> Iterator[Said]:
    culprit = state.culprit
    if culprit is None:
        return
    yield _said("error", _failure(culprit, state.world_size == 1), explanation or culprit.text)
    others = sorted({f.rank for f in state.failures if f is not culprit and f.rank is not None})
    if others:
        ranks = ", ".join(str(rank) for rank in others)
        yield _said("note", f"Rank {ranks} failed after it." if len(others) == 1 else f"Ranks {ranks} failed after it.")


def _failure(failure: Failure, alone: bool) -> str:
    who = "The main process" if failure.rank is None else "The training" if alone else f"Rank {failure.rank}"
    where = _place(failure.epoch, failure.step)
    if failure.died:
        how = f"was ended by {failure.type}" if failure.type else "died"
        return f"{who} {how}{where}" + (f": {failure.message}" if failure.message else "")
    what = ": ".join(part for part in (failure.type, failure.message) if part)
    return f"{who} failed{'' if alone else ' first'}{where}: {what}"


def _place(epoch: int | None, step: int | None) -> str:
    """Epochs are counted from 1 wherever a person reads them."""
    parts = [f"epoch {epoch + 1}"] if epoch is not None else []
    parts += [f"step {step:,}"] if step else []
    return f" in {', '.join(parts)}" if parts else ""


def _ending(state: RunState) -> Iterator[Said]:
    if state.lost:
        yield _said("error", state.lost)
    if state.exit is not None and state.exit.cause and state.exit.cause not in {f.message for f in state.failures}:
        yield _said("error" if state.phase == "failed" else "note", state.exit.cause)
    if state.why_cold:
        yield _said("note", state.why_cold)


def _silence(state: RunState, subject: Subject) -> Iterator[Said]:
    if state.hang is None:
        return
    stacks = "\n\n".join(f"{_name(rank)}\n{subject.locate(text)}" for rank, text in state.hang.stacks.items())
    yield _said("warning", f"Nothing heard for {duration(state.hang.quiet)}; still waiting. Stop works.", stacks)


def _name(rank: str) -> str:
    return f"rank {rank}" if rank.isdigit() else "main process"


def _numbers(state: RunState) -> Iterator[Said]:
    if state.nan is not None:
        nan = state.nan
        who = "" if nan.rank is None else f" on rank {nan.rank}"
        yield _said("warning", f"{nan.name} is not a finite number{who}, first{_place(nan.epoch, nan.step)}")
    if state.unreadable:
        yield _said("note", f"{count(state.unreadable, 'line')} of the run's events could not be read")


def _warning(notice: Notice) -> Said:
    who = "" if notice.rank is None else f"Rank {notice.rank}: "
    first, _, rest = notice.message.strip().partition("\n")
    times = f" (×{notice.count})" if notice.count > 1 else ""
    return _said("warning", f"{who}{first}{times}", rest)


def _diagnostic(diagnostic: Diagnostic) -> Said:
    where = f"Cell {diagnostic.cell}, line {diagnostic.line}: " if diagnostic.cell else ""
    parts = (("", diagnostic.source), ("why: ", diagnostic.why), ("help: ", diagnostic.help))
    more = "\n".join(f"{title}{words}" for title, words in parts if words)
    return _said(diagnostic.level, f"{where}{diagnostic.message}", more)
