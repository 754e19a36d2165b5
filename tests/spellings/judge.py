"""What becomes of a spelling: the same numbers, a report, a refusal, or what must never be."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import nbddp
from nbddp.diagnostics import Diagnostic
from nbddp.notebook import notebook_from_percent
from tests.spellings.simulated.ranks import Apart
from tests.spellings.simulated.runs import Shown, by_itself, on_ranks

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
REPORTS = ("reduce", "evaluation", "decide", "gradients")
Verdict = Literal["equal", "reported", "refused", "WRONG"]


@dataclass(frozen=True)
class Outcome:
    verdict: Verdict
    why: str = ""
    rule: str = ""  # that reports it


def outcome(text: str, worlds: tuple[int, ...], folder: Path, cell: int, rules: tuple[str, ...] = REPORTS) -> Outcome:
    """`cell` is the first that is spelt: reports of others do not count."""
    try:
        script = nbddp.export(notebook_from_percent(text, "spelling.py"))
    except nbddp.CannotExport as refused:
        found = [d for d in refused.diagnostics if d.level == "error" and d.rule != "internal"]
        return Outcome("refused", str(found[0].message)) if found else Outcome("WRONG", str(refused))
    alone = by_itself(text, folder / "notebook")
    reports = [d for d in script.diagnostics if is_report(d, cell, rules)]
    for number in worlds:
        try:
            together = on_ranks(script.text, number, folder / f"ranks-{number}")
        except Exception as error:  # noqa: BLE001 -- whatever it is, the script has failed
            if told := [
                d for d in reports if d.rule != "evaluation" and failing_line(error, script.text) == d.source.strip()
            ]:
                return Outcome("reported", str(told[0].message), told[0].rule)  # `max(log)` of none on this rank
            return Outcome("WRONG", f"{number} ranks: {type(error).__name__}: {error}")
        if different := difference(alone, together):
            if number == 1 or not reports:
                return Outcome("WRONG", f"{number} ranks: {different}")
            others = [d for d in reports if d.rule != "evaluation"]  # which says that the numbers are right
            if not others:
                return Outcome("WRONG", f"{number} ranks, though {reports[0].message}: {different}")
            return Outcome("reported", str(others[0].message), others[0].rule)
    return Outcome("equal", str(reports[0].message), reports[0].rule) if reports else Outcome("equal")


def is_report(diagnostic: Diagnostic, cell: int, rules: tuple[str, ...] = REPORTS) -> bool:
    """That the numbers are another's, or how they come to be the same, at a line of what is spelt."""
    return diagnostic.cell >= cell and diagnostic.line > 0 and diagnostic.rule in rules


def failing_line(error: Exception, script: str) -> str:
    """Where the script itself failed, not a function that was copied into it."""
    *_, last = traceback.extract_tb(error.__traceback__)
    return script.splitlines()[last.lineno - 1].strip() if last.filename == "<script>" and last.lineno else ""


def difference(alone: Shown, together: Shown) -> str:
    if not alike(alone.printed, together.printed):
        return f"{alone.printed!r} became {together.printed!r}"
    if alone.files.keys() != together.files.keys():
        return f"files {sorted(alone.files)} became {sorted(together.files)}"
    unlike = [name for name in alone.files if not alike(alone.files[name], together.files[name])]
    return f"{unlike[0]}: {alone.files[unlike[0]]!r} became {together.files[unlike[0]]!r}" if unlike else ""


def alike(one: str, other: str) -> bool:
    """The same words, and numbers that are the same but for rounding; whole ones stay whole."""
    if NUMBER.split(one) != NUMBER.split(other):
        return False
    pairs = [*zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)]
    whole = all(a.lstrip("-").isdigit() == b.lstrip("-").isdigit() for a, b in pairs)
    return whole and all(abs(float(a) - float(b)) <= 3e-4 * max(1.0, abs(float(a))) for a, b in pairs)


__all__ = ["Apart", "Outcome", "outcome"]
