"""The one way from a notebook to a script; every front door goes through it.

`nbddp` offers these functions under its own name, so this file is read at `import nbddp`. The compiler itself, which
takes longer to import than that may take, is imported by the first call.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nbddp.diagnostics import CannotExport, Diagnostic, in_order
from nbddp.options import Options
from nbddp.sentence import NOTHING, Sentence, sentence

if TYPE_CHECKING:
    from nbddp.analysis import Plan
    from nbddp.edits import Edit
    from nbddp.notebook import Notebook
    from nbddp.script.apply import Conflict, Line
    from nbddp.watch_points import WatchPoint


@dataclass(frozen=True, eq=False)
class Script:
    """What an export gives."""

    text: str
    diagnostics: tuple[Diagnostic, ...]
    line_map: tuple[tuple[int, int] | None, ...]  # cell and line in it, for each line of the script
    watch: tuple[WatchPoint, ...]  # what nbddp watches when it runs the script, which says nothing of it
    plan: Plan


def export(source: Path | str | Notebook, options: Options | None = None) -> Script:
    """Compile a notebook; raises CannotExport with all that stands in the way, or CannotRead."""
    from nbddp.analysis import followed
    from nbddp.notebook import Notebook, read_notebook

    notebook = source if isinstance(source, Notebook) else read_notebook(source)
    return followed(notebook, lambda: _compiled(notebook, options or Options(), set()))


def _compiled(notebook: Notebook, options: Options, flat: set[str]) -> Script:
    from nbddp.modules import with_modules
    from nbddp.script.apply import Conflict
    from nbddp.script.assemble import as_text, assemble
    from nbddp.script.from_modules import copied, to_flatten

    plan, edits, diagnostics = decided(with_modules(notebook, flat), options)
    if any(d.level == "error" for d in diagnostics):
        raise CannotExport(diagnostics)
    if more := to_flatten(plan, edits):
        return _compiled(notebook, options, flat | more)
    diagnostics += copied(plan, edits)
    if any(d.level == "error" for d in diagnostics):
        raise CannotExport(diagnostics)
    try:
        lines = assemble(plan, edits)
    except Conflict as conflict:
        raise CannotExport([*diagnostics, _conflict(plan, conflict)]) from None
    text = as_text(lines)
    _compiles(text)
    return Script(text, in_order(diagnostics), _line_map(plan, lines), _watched(text, lines), plan)


def _watched(text: str, lines: list[Line]) -> tuple[WatchPoint, ...]:
    from nbddp.watch_points import at_statements, placed

    marks = [(number, column, watch) for number, line in enumerate(lines) for column, watch in line.marks]
    return at_statements(text, placed(text.split("\n"), marks))


Decided = tuple["Plan", list["Edit"], list[Diagnostic]]


def decided(notebook: Notebook, options: Options) -> Decided:
    """The plan, and what all rules say: in the first of these ways in which the training can be split.

    As it is written; with a lambda as the function that it is; from whole batches, where there is no loader.
    """
    from nbddp.analysis import read

    return _decided(notebook, read(notebook, options))


def _decided(notebook: Notebook, first: Plan) -> Decided:
    from nbddp.analysis import read
    from nbddp.notebook import with_definitions

    options = first.options
    plan, edits, found = _looked_at(first, _with_whole_batches(first))
    refused = [d for d in found if d.level == "error" and d.rule in OF_SHARES and not d.why.endswith(OF_ONE)]
    if refused and (named := with_definitions(notebook)) != notebook:
        written_out = _decided(named, read(named, options))
        if not _is_refused(written_out[2]):
            return written_out
    told = plan.assumed.splits and _told(found)
    if options.exact or options.shard or not (refused or told) or len(refused) < _faults(found)[0]:
        return plan, edits, found
    if (exact := _exactly(notebook, first)) is None or (told and (_told(exact[2]) or (0, 0)) >= told):
        return plan, edits, found
    if told or all(share.how in ("split", "unfit") for share in plan.sharding.shares.values()):  # no sampler would do
        return exact
    advice = sentence("export with --exact: all ranks then have whole batches, and share the model's work on each")
    return plan, edits, [_with_advice(d, advice) if d in refused else d for d in found]


def _with_whole_batches(first: Plan) -> Decided:
    """For the numbers of one process: what is told to be of a rank's samples alone, where that leaves less to tell."""
    from nbddp.analysis import planned
    from nbddp.script.imports import own_imports

    plan = planned(first, own_imports())
    edits, found = decide(plan)
    told = [d for d in found if _is_of_a_part(d)]
    if not (plan.options.exact and plan.assumed.splits and told):
        return plan, edits, found
    source = told[0].source.strip()
    why = sentence("'%1' needs all samples of a batch", source)
    if told[0].level == "note" and told[0].rule == "loss":
        why = sentence("'%1' may need all samples of a batch", source)
    whole = planned(first, own_imports(), why)
    others, left = decide(whole)
    better = sum(map(_is_of_a_part, left)) < len(told) and not _is_refused(left)
    return (whole, others, left) if better else (plan, edits, found)


def _looked_at(first: Plan, found: Decided) -> Decided:
    """What a step only looks at each rank has whole, where that leaves less to tell."""
    from nbddp.analysis import planned
    from nbddp.script.imports import own_imports

    if not (any(map(_is_of_a_part, found[2])) and (found[0].assumed.splits or found[0].assumed.unsplit)):
        return found
    plan = planned(first, own_imports(), apart=True)
    edits, left = decide(plan)
    return (plan, edits, left) if _faults(left) < _faults(found[2]) else found


def _exactly(notebook: Notebook, first: Plan) -> Decided | None:
    """Where a rank's own samples do not do, whole batches may."""
    try:
        found = _decided(notebook, replace(first, options=replace(first.options, exact=True)))
    except CannotExport:
        return None
    return None if _is_refused(found[2]) else found


def _told(found: list[Diagnostic]) -> tuple[int, int] | None:
    """How many numbers of the training are others than on one process; and of those that are shown."""
    warned = sum(d.level == "warning" and _is_of_a_part(d) for d in found)
    shown = sum(d.level == "note" and d.rule == "reduce" for d in found)
    return (warned, shown) if warned or shown else None


def _is_refused(found: list[Diagnostic]) -> bool:
    return any(d.level == "error" for d in found)


def _faults(found: list[Diagnostic]) -> tuple[int, int]:
    return sum(d.level == "error" for d in found), sum(map(_is_of_a_part, found))


OF_ONE = "one sample cannot be split"  # nor by a model: the ranks would all do the same
# What these refuse, a rank cannot do with its part alone.
OF_SHARES = ("shard", "sampler", "batch-size", "gradients", "loss", "seed", "decide")


def _with_advice(refusal: Diagnostic, advice: Sentence) -> Diagnostic:
    """Beside what the refusal says already, but for that there is no loader."""
    other = refusal.help if refusal.rule != "shard" else NOTHING
    if "--exact" in str(other):
        return refusal
    return replace(refusal, help=sentence("%1; or export with --exact", other) if other else advice)


def _is_of_a_part(found: Diagnostic) -> bool:
    """Does it tell what a rank has by its own samples alone? Notes on gradients tell how they are averaged."""
    return found.rule in ("reduce", "decide", "loss", "shard") or (found.rule == "gradients" and found.level != "note")


def decide(plan: Plan) -> tuple[list[Edit], list[Diagnostic]]:
    """What all rules say; they see the notebook as it is, not what the others make of it."""
    from nbddp.analysis.training import first_causes
    from nbddp.edits import Edit, shown_by_name
    from nbddp.rules import BESIDE_A_FRAMEWORK, RULES

    edits: list[Edit] = []
    diagnostics = [*plan.found]
    for rule in RULES if plan.framework is None else BESIDE_A_FRAMEWORK:
        for found in rule.rewrite(plan):
            (edits if isinstance(found, Edit) else diagnostics).append(found)
    edits += [*shown_by_name(plan.program, edits)]
    return edits, first_causes(plan.notebook, plan.training_cell, diagnostics)


def _compiles(text: str) -> None:
    """A script that does not compile is a defect of nbddp; better said here than on a cluster."""
    try:
        compile(text, "script", "exec", dont_inherit=True)
    except SyntaxError as error:
        message = sentence("nbddp made a script that is not valid Python: %1", error.msg)
        advice = sentence("this is a bug in nbddp: please report it, with the notebook if you can")
        source = (error.text or "").rstrip()
        raise CannotExport([Diagnostic("internal", "error", message, help=advice, source=source)]) from None


def _conflict(plan: Plan, conflict: Conflict) -> Diagnostic:
    line = plan.program.text.count("\n", 0, conflict.second.start) + 1
    cell, in_cell = plan.program.place(line)
    advice = sentence("split the statement into two, and please report this: it is a bug in nbddp")
    rules = (conflict.first.rule, conflict.second.rule)
    message = sentence("the rules '%1' and '%2' change the same text", *rules)
    return Diagnostic("internal", "error", message, cell.number, in_cell, 1, advice)


def _line_map(plan: Plan, lines: list[Line]) -> tuple[tuple[int, int] | None, ...]:
    found: list[tuple[int, int] | None] = []
    for line in lines:
        if line.origin is None:
            found.append(None)
        else:
            cell, number = plan.program.place(line.origin)
            found.append(None if cell.file else (cell.number, number))
    return tuple(found)


__all__ = ["Script", "decide", "export"]
