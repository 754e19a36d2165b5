"""One notebook: shortened, run plainly, exported, its script run on one process and on two, and judged."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbddp
from nbddp import CannotExport, Options
from nbddp.diagnostics import Diagnostic
from nbddp.export import Script
from nbddp.notebook import CannotRead, Notebook, notebook_from_json, read_notebook

from .judge import Verdict, differences, refusal, told_of
from .runs import Run, Setting, run_plain, run_script
from .shorten import Place, as_json

Exported = Script | tuple[Diagnostic, ...]


def examine(path: Path, setting: Setting, *, train: bool = True) -> Verdict:
    began = time.monotonic()
    try:
        original = read_notebook(path)
    except CannotRead as error:
        return Verdict("refused", f"unreadable: {error.sentence}")
    whole = export(original, None)
    if not train:
        return _static(whole)
    verdict = _trained(path, original, setting)
    said = "can export" if isinstance(whole, Script) or _several(whole) else "cannot export"
    details = {"checked": said, **verdict.details}
    return replace(verdict, seconds=round(time.monotonic() - began, 1), details=details)


def export(notebook: Notebook, cell: int | None) -> Exported:
    try:
        script = nbddp.export(notebook, Options(train=cell))
    except CannotExport as refused:
        return refused.diagnostics
    compile(script.text, "script", "exec", dont_inherit=True)
    return script


def _static(whole: Exported) -> Verdict:
    return Verdict("exports") if isinstance(whole, Script) else Verdict("refused", refusal(whole))


def _several(found: Exported) -> list[int]:
    """The cells of which one is to be chosen."""
    if isinstance(found, Script) or found[0].rule != "training-cell":
        return []
    return [d.cell for d in found if d.cell]


def _trained(path: Path, original: Notebook, setting: Setting) -> Verdict:
    made = as_json(original)
    exported = export(notebook_from_json(made, path.name), None)
    plain = run_plain(made, path, wanted(exported), setting)
    removed = frozenset(_place(e) for e in plain.of("raised") if not e["trained"])
    if removed:
        made = as_json(original, removed)
    cell = _last_trained(_several(exported), plain)
    if removed or cell:
        exported = export(notebook_from_json(made, path.name), cell)
        plain = run_plain(made, path, wanted(exported), setting)
    if not plain.losses and not plain.of("trained"):
        return _untrained(plain, exported)
    steps = len(plain.losses) or sum(e["steps"] for e in plain.of("trained"))
    if not isinstance(exported, Script):
        return Verdict("refused", refusal(exported), steps=steps, details={"trains": True})
    if not plain.losses:
        return Verdict("differs", "what is kept of the notebook does not train", steps=steps, details={"trains": True})
    details = {"trains": True, "cell": cell, "removed": len(removed), "seconds in one process": plain.seconds}
    return replace(_compared(path, exported, plain, setting), steps=steps, details=details)


def wanted(exported: Exported) -> list[Place] | None:
    """The statements that the script keeps; None for all."""
    if not isinstance(exported, Script):
        return None
    program = exported.plan.program
    return [(s.cell.number, program.place(s.node.lineno)[1], s.node.col_offset) for s in exported.plan.kept]


def _place(event: dict[str, Any]) -> Place:
    cell, line, column = event["place"]
    return cell, line, column


def _last_trained(cells: list[int], plain: Run) -> int | None:
    trained = {e["cell"] for e in plain.of("trained")}
    chosen = [c for c in cells if c in trained] or cells
    return chosen[-1] if chosen else None


def _untrained(plain: Run, exported: Exported) -> Verdict:
    raised = next((e["error"] for e in plain.of("raised")), plain.error.strip()[-200:] or plain.ended)
    static = "exports" if isinstance(exported, Script) else f"refused: {refusal(exported)}"
    return Verdict("does not train here", f"{static}; {raised}", details={"trains": False})


def _compared(path: Path, script: Script, plain: Run, setting: Setting) -> Verdict:
    """One process first: there everything has to agree, whatever the notebook draws."""
    if plain.ended in ("slow", "hangs"):
        setting = replace(setting, steps=max(1, len(plain.losses)), seconds=1.5 * setting.seconds)
    alike, told = "", told_of(script.diagnostics)
    note = ""
    numbers = [1, 2]
    for nproc in numbers:
        run = run_script(script.text, nproc, path, setting)
        on = f"on {nproc}"
        if run.ended == "raised" and (own := _divides(run.error)):
            if nproc == 5:
                return Verdict("refused at start", own)
            numbers.append({2: 3, 3: 5}[nproc])
            continue
        if run.ended in ("raised", "hangs"):
            return Verdict(_word(run), f"{on}: {_last_words(run)}")
        if run.ended == "slow" and len(run.losses) < 2:
            return Verdict("slow", on)
        word, found = differences(plain, run, nproc, told)
        if word == "differs":
            return Verdict(word, f"{on}: {'; '.join(found)}"[:600])
        alike = found[0] if word == "alike" else alike
        note = "; ".join(found) if word == "agrees" else note
    return Verdict("alike" if alike else "agrees", alike or note)


def _divides(error: str) -> str:
    return next((line for line in error.splitlines() if "does not divide among" in line), "")


def _word(run: Run) -> str:
    return "raises" if run.ended == "raised" else "hangs"


def _last_words(run: Run) -> str:
    lines = [line.strip() for line in run.error.splitlines() if line.strip()]
    errors = [line for line in lines if ("Error" in line or "Exception" in line) and "ProcessRaised" not in line]
    steps = {rank: len(run.of("backward", rank)) for rank in sorted(run.events)}
    return f"{(errors or lines or [''])[-1][:300]} (steps by rank: {steps})"
