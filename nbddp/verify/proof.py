"""The verification itself, from the runs to the verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from nbddp.run.folder.errors import CannotVerify
from nbddp.run.start.launch import Helper
from nbddp.verify.bench import OUT_OF_MEMORY, Asked, Bench
from nbddp.verify.causes import EVALUATION, GRADIENTS, METRIC, SYNCHRONISED, Cause
from nbddp.verify.compare import Comparison, alike, compare, unsteady_lines
from nbddp.verify.experiments import Side, candidates, find, gradients, rounding
from nbddp.verify.observe import defects, ranks_apart, seeded_apart
from nbddp.verify.report import Report
from nbddp.verify.saved import load, save
from nbddp.verify.steady import source_of_chance, steady
from nbddp.verify.trace import Trace


def prove(
    asked: Asked,
    name: str,
    helper: Helper,
    say: Callable[[str], object],
    kept: Path | None = None,
    expected: Path | None = None,
) -> Report:
    """Run both sides, compare, and look for what makes the difference. `kept` is where the expected curve goes."""
    facts = {"steps asked for": asked.steps, "seed": asked.seed}
    curve = load(expected, facts) if expected else None
    with Bench(asked, helper, say) as bench:
        side, many, one = _runs(bench)
        if kept:
            save(kept, one, facts)
        if curve is not None and not (changed := compare(curve, one)).steps_agree and not rounding(side, changed):
            return _changed(name, changed, expected)
        return _judged(side, name, one, many)


def _changed(name: str, found: Comparison, expected: Path | None) -> Report:
    """It is not the number of processes: the training itself is not what it was."""
    sentence = f"The notebook's training on one process is no longer the same as in {expected}: {_sentence(found)}"
    return Report(name, 1, "different", sentence, found, expected=str(expected))


def _runs(bench: Bench) -> tuple[Side, Trace, Trace]:
    """Both sides, and one process a second time: what differs from itself can be compared with nothing."""
    bench.say(f"training {bench.asked.steps} steps on {bench.asked.nproc} processes")
    side = Side(bench, frozenset())
    many = side.many()
    if "StopIteration" in many.failure:  # the loop counts on every batch of an epoch
        side = replace(side, cut=False)
        many = side.many()
    bench.say("training the same steps on one process, twice")
    one = side.one(many)
    _refuse(one, many)
    again = side.one(many)
    if not steady(one, again):
        raise CannotVerify(source_of_chance(side, many, one, again))
    return replace(side, unsteady=unsteady_lines(one, again), drawn=many.drawn), many, one


def _refuse(one: Trace, many: Trace) -> None:
    for trace, where in ((one, "one process"), (many, f"{len(many.taken)} processes")):
        if trace.failure.startswith(OUT_OF_MEMORY):
            hint = "make the batch smaller, or use fewer processes (--nproc)"
            raise CannotVerify(f"On {where} {trace.failure}; {hint}.")
    if "does not divide among" in many.failure:
        raise CannotVerify(f"{many.failure}.")
    if one.failure:
        raise CannotVerify(f"The notebook itself fails on one process: {one.failure}")
    if not one.steps:
        raise CannotVerify("The training takes no step of a torch optimizer, so there is nothing to compare.")


def _judged(side: Side, name: str, one: Trace, many: Trace) -> Report:
    found = compare(one, many, side.unsteady)
    nproc, notes = side.bench.asked.nproc, tuple(_notes(side, one))
    report = Report(name, nproc, "same", "", found, (), notes)
    facts = list(defects(one, many))
    apart = ranks_apart(many)
    if many.failure or facts or apart:
        return _defective(report, side, many, facts, apart is not None)
    if found.agree:
        return replace(report, sentence=f"{_span(found)} agree within {max(found.apart, 1e-7):.1e}.")
    if grown := ("" if found.printed else rounding(side, found)):
        return replace(report, sentence=f"{_span(found)} agree within {found.apart:.1e}. {grown}")
    return _explained(report, side, one, many)


def _defective(report: Report, side: Side, many: Trace, facts: list[Cause], apart: bool) -> Report:
    """The records themselves show it; where it is the gradients, an experiment says so."""
    causes = list(facts)
    if apart or "were not averaged" in many.failure:
        side.bench.say("testing whether averaged gradients remove the difference")
        causes += [gradients(side, report.comparison) or replace(GRADIENTS, evidence="the processes' weights differ")]
    sentence = f"On {report.nproc} processes the training fails: {many.failure}" if many.failure else ""
    sentence = sentence or f"The processes do not train as one process does: {causes[0].what}."
    return replace(report, verdict="different", sentence=sentence, causes=tuple(causes))


def _explained(report: Report, side: Side, one: Trace, many: Trace) -> Report:
    found = report.comparison
    if found.steps_agree:  # so it is what is printed
        cause = _of_print(found, one, many)
        verdict = "different" if cause.defect else "alike"
        return replace(
            report, verdict=verdict, sentence=f"{_span(found)} agree, but the printed output does not.", causes=(cause,)
        )
    names = candidates(one, many)
    side.bench.say(f"looking for the cause: {', '.join(names) or 'the recorded steps'}")
    causes, left = find(side, names, found)
    if "sync_batchnorm(" in side.bench.asked.script:
        causes = [replace(c, advice=SYNCHRONISED) if c.name == "batchnorm" else c for c in causes]
    sentence = _sentence(found)
    if causes:
        if left.printed:
            causes.append(_of_print(left, one, many))
        verdict = "alike" if alike(found) and not any(cause.defect for cause in causes) else "different"
        return replace(report, verdict=verdict, sentence=sentence, causes=tuple(causes))
    seeded = seeded_apart(many)
    tried = f" Removing {', '.join(names)} did not explain it." if names else ""
    sentence = sentence if seeded else f"{sentence}{tried} No known construct explains it."
    return replace(report, verdict="different", sentence=sentence, causes=(seeded,) if seeded else ())


def _of_print(found: Comparison, one: Trace, many: Trace) -> Cause:
    """Why equal weights give other numbers."""
    if "evaluation" in one.seen | many.seen:
        return EVALUATION
    first = found.printed[0]
    return replace(METRIC, evidence=f"one process prints '{first[0]}', {len(many.taken)} print '{first[1]}'")


def _span(found: Comparison) -> str:
    return f"{len(found.rows)} steps"


def _sentence(found: Comparison) -> str:
    first = next((row for row in found.rows if row.apart > 1e-5), None)
    if first is None:
        return f"One side takes {found.missing} steps that the other does not take."
    most = max(found.rows, key=lambda row: row.weights).where
    return f"From step {first.number} on they differ, by up to {found.apart:.1e}; of the weights, most in {most}."


def _notes(side: Side, one: Trace) -> list[str]:
    notes = []
    if len(one.steps) and max(one.taken) < side.bench.asked.steps:
        asked = side.bench.asked.steps
        notes.append(f"The whole training has {max(one.taken)} steps, fewer than the requested {asked}.")
    if not side.cut:
        notes.append("The loop needs every batch of an epoch, so its epochs were not shortened for the comparison.")
    return notes
