"""What there is to say about a run beside its numbers, the gravest first: failures, silence, warnings, diagnostics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any, TypedDict

from nbddp.diagnostics import Diagnostic
from nbddp.documentation import page_of
from nbddp.run.state.state import Failure, Notice, RunState
from nbddp.run.state.words import duration, of_job, queued
from nbddp.sentence import Sentence, sentence, words_of
from nbddp.widget.subject import Subject

MOST = 50
LONGEST = 20_000
ORDER = ("error", "warning", "note")


class Plain(TypedDict):
    """A sentence, and a text behind it where there is more."""

    level: str
    text: str
    more: str


class Said(Plain, total=False):
    """One notice as the page shows it."""

    page: str  # of the site, where one is about it


NOTHING = Subject()


def notices(state: RunState, subject: Subject = NOTHING) -> list[Said]:
    """All that there is to say."""
    found = [
        *_failures(state, subject.explanation(state)),
        *_ending(state),
        *_silence(state, subject),
        *_numbers(state),
        *(_said("note", said) for said in (*filter(None, [queued(state)]), *of_job(state))),
        *map(_warning, state.warnings),
        *map(_diagnostic, subject.diagnostics),
    ]
    found.sort(key=lambda said: ORDER.index(said["level"]))
    if len(found) > MOST:
        rest = len(found) - MOST
        more = sentence("%1 more notices; all are in the run's folder", rest)
        found[MOST:] = [_said("note", more if rest > 1 else sentence("1 more notice; all are in the run's folder"))]
    return found


def _said(level: str, text: str, more: str = "") -> Said:
    return {"level": level, "text": text, "more": more if len(more) <= LONGEST else more[-LONGEST:]}


def for_page(said: Said) -> dict[str, Any]:
    """With the words that a page says in its own language."""
    behind = {"behind": said["more"].words} if isinstance(said["more"], Sentence) else {}
    return {**said, "words": words_of(said["text"]), **behind}


def _failures(state: RunState, explanation: str) -> Iterator[Said]:
    culprit = state.culprit
    if culprit is None:
        return
    yield _said("error", _failure(culprit, state.world_size == 1), explanation or culprit.text)
    others = sorted({f.rank for f in state.failures if f is not culprit and f.rank is not None})
    if others:
        ranks = ", ".join(str(rank) for rank in others)
        one, many = sentence("Rank %1 failed after that.", ranks), sentence("Ranks %1 failed after that.", ranks)
        yield _said("note", one if len(others) == 1 else many)


def _failure(failure: Failure, alone: bool) -> str:
    who, where = _who(failure, alone), _place(failure.epoch, failure.step)
    if failure.died:
        how = sentence("%1 died%2", who, where)
        if failure.type:
            how = sentence("%1 was ended by %2%3", who, failure.type, where)
        return sentence("%1: %2", how, failure.message) if failure.message else how
    what = ": ".join(part for part in (failure.type, failure.message) if part)
    if alone:
        return sentence("%1 failed%2: %3", who, where, what)
    return sentence("%1 failed first%2: %3", who, where, what)


def _who(failure: Failure, alone: bool) -> str:
    if failure.rank is None:
        return sentence("The main process")
    return sentence("The training") if alone else sentence("Rank %1", failure.rank)


def _place(epoch: int | None, step: int | None) -> str:
    """Epochs are counted from 1 wherever a person reads them."""
    if epoch is None:
        return sentence(" in step %1", f"{step:,}") if step else ""
    if not step:
        return sentence(" in epoch %1", epoch + 1)
    return sentence(" in epoch %1, step %2", epoch + 1, f"{step:,}")


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
    text = sentence("No progress for %1; still waiting. You can stop the run.", duration(state.hang.quiet))
    yield _said("warning", text, stacks)


def _name(rank: str) -> str:
    return f"rank {rank}" if rank.isdigit() else "main process"


def _numbers(state: RunState) -> Iterator[Said]:
    if state.nan is not None:
        nan = state.nan
        who = "" if nan.rank is None else sentence(" on rank %1", nan.rank)
        where = _place(nan.epoch, nan.step)
        yield _said("warning", sentence("%1 is not a finite number%2, first%3", nan.name, who, where))
    if state.unreadable:
        many = sentence("%1 lines of the run's events could not be read", state.unreadable)
        one = sentence("1 line of the run's events could not be read")
        yield _said("note", one if state.unreadable == 1 else many)


def _warning(notice: Notice) -> Said:
    first, _, rest = notice.message.strip().partition("\n")
    said = first + (f" (×{notice.count})" if notice.count > 1 else "")
    return _said("warning", said if notice.rank is None else sentence("Rank %1: %2", notice.rank, said), rest)


def _diagnostic(diagnostic: Diagnostic) -> Said:
    text = sentence("Cell %1, line %2: %3", diagnostic.cell, diagnostic.line, diagnostic.message)
    why = diagnostic.why and sentence("why: %1", diagnostic.why)
    cure = diagnostic.help and sentence("help: %1", diagnostic.help)
    parts = [part for part in (diagnostic.source, why, cure) if part]
    more = reduce(lambda before, part: sentence("%1\n%2", before, part), parts) if parts else ""
    said = _said(diagnostic.level, text if diagnostic.cell else diagnostic.message, more)
    return {**said, "page": page_of(diagnostic.rule)}
