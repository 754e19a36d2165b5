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
from .pair import Pair, wanted
from .runs import Run, Setting, run_plain
from .shorten import Place, as_json

Exported = Script | tuple[Diagnostic, ...]


def examine(path: Path, setting: Setting, *, train: bool = True) -> Verdict:
    began = time.monotonic()
    try:
        original = read_notebook(path)
    except CannotRead as error:
        return Verdict("refused", f"unreadable: {error.sentence}")
    whole = export(original, None, exact=setting.exact)
    if not train:
        return _static(whole)
    verdict = _trained(path, original, setting)
    said = "can export" if isinstance(whole, Script) or _several(whole) else "cannot export"
    details = {"checked": said, **verdict.details}
    return replace(verdict, seconds=round(time.monotonic() - began, 1), details=details)


def export(notebook: Notebook, cell: int | None, *, exact: bool = False) -> Exported:
    try:
        script = nbddp.export(notebook, Options(train=cell, exact=exact))
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
    whole = exported = export(notebook_from_json(made, path.name), None, exact=setting.exact)
    plain = tried = run_plain(made, path, wanted(exported), setting)
    removed = frozenset(_place(e) for e in plain.of("raised") if not e["trained"])
    if removed:
        made = as_json(original, removed)
    cell = _last_trained(_several(exported), plain)
    if removed or cell:
        exported = export(notebook_from_json(made, path.name), cell, exact=setting.exact)
        if lacking := _lacking(whole, exported, plain):
            return lacking
        plain = run_plain(made, path, wanted(exported), setting)
    if not plain.losses and not plain.of("trained"):
        return _untrained(tried, whole)
    steps = len(plain.losses) or sum(e["steps"] for e in plain.of("trained"))
    if not isinstance(exported, Script):
        return Verdict("refused", refusal(exported), steps=steps, details={"trains": True})
    if not plain.losses:
        return Verdict("differs", "what is kept of the notebook does not train", steps=steps, details={"trains": True})
    details = {"trains": True, "cell": cell, "removed": len(removed), "seconds in one process": plain.seconds}
    compared = _compared(Pair(path, made, exported, setting), plain)
    return replace(compared, steps=steps, details=details)


def _place(event: dict[str, Any]) -> Place:
    cell, line, column = event["place"]
    return cell, line, column


def _last_trained(cells: list[int], plain: Run) -> int | None:
    trained = {e["cell"] for e in plain.of("trained")}
    chosen = [c for c in cells if c in trained] or cells
    return chosen[-1] if chosen else None


def _lacking(whole: Exported, exported: Exported, plain: Run) -> Verdict | None:
    """What a statement that fails here would have defined is missed: a package, a file, not a rule of nbddp."""
    refused = not isinstance(exported, Script) and refusal(exported).startswith("undefined")
    if not refused or (not isinstance(whole, Script) and refusal(whole).startswith("undefined")):
        return None
    return _untrained(plain, whole)


def _untrained(plain: Run, exported: Exported) -> Verdict:
    raised = next((e["error"] for e in plain.of("raised")), plain.error.strip()[-200:] or plain.ended)
    static = "exports" if isinstance(exported, Script) else f"refused: {refusal(exported)}"
    return Verdict("does not train here", f"{static}; {raised}", details={"trains": False})


def _compared(pair: Pair, plain: Run) -> Verdict:
    """One process first: there everything has to agree, whatever the notebook draws."""
    if plain.ended in ("slow", "hangs"):
        pair = pair.cut(max(1, len(plain.losses)))
    alike, told, note = "", told_of(pair.script.diagnostics), ""
    numbers = [1, 2]
    for nproc in numbers:
        run = pair.run(nproc)
        on = f"on {nproc}"
        if run.ended == "raised" and (own := _divides(run.error)):
            if nproc == 5:
                return Verdict("refused at start", own)
            numbers.append({2: 3, 3: 5}[nproc])
            continue
        if run.ended == "raised" and (same := _raised_alike(plain, run)):
            return Verdict("does not train here", same)
        if run.ended in ("raised", "hangs"):
            return Verdict(_word(run), f"{on}: {_last_words(run)}")
        if run.ended == "slow" and len(run.losses) < 2:
            return Verdict("slow", on)
        word, found = differences(plain, run, nproc, told)
        if word == "differs" and nproc > 1 and (rounding := pair.only_rounding(nproc)):
            word, found = "agrees", [rounding]
        if word == "differs":
            return Verdict(word, f"{on}: {'; '.join(found)}"[:600])
        alike = found[0] if word == "alike" else alike
        note = "; ".join(found) if word == "agrees" else note
    return Verdict("alike" if alike else "agrees", alike or note)


def _raised_alike(plain: Run, run: Run) -> str:
    """What the training raises in the notebook too, an old name of torch say."""
    errors = [e["error"] for e in plain.of("raised") if e["trained"]]
    return next((f"as in one process: {e}" for e in errors if e.partition("\n")[0] in run.error), "")


def _divides(error: str) -> str:
    return next((line for line in error.splitlines() if "does not divide among" in line), "")


def _word(run: Run) -> str:
    return "raises" if run.ended == "raised" else "hangs"


def _last_words(run: Run) -> str:
    lines = [line.strip() for line in run.error.splitlines() if line.strip()]
    errors = [line for line in lines if ("Error" in line or "Exception" in line) and "ProcessRaised" not in line]
    steps = {rank: len(run.of("backward", rank)) for rank in sorted(run.events)}
    return f"{(errors or lines or [''])[-1][:300]} (steps by rank: {steps})"
