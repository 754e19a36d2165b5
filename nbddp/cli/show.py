"""Diagnostics as people read them: house form, coloured by weight on a terminal, counted in one last line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from nbddp.cli.colour import coloured, paint
from nbddp.diagnostics import Diagnostic, Level, rendered

LEVEL_STYLES: dict[Level, str] = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


def show(diagnostics: Sequence[Diagnostic], stream: TextIO) -> None:
    on = coloured(stream)
    for diagnostic, text in zip(diagnostics, rendered(diagnostics), strict=True):
        print(_painted(diagnostic, text, on), end="\n\n", file=stream)


def count(diagnostics: Sequence[Diagnostic]) -> str:
    """ "2 errors, 1 warning"; nothing where there is nothing."""
    levels = Counter(diagnostic.level for diagnostic in diagnostics)
    return ", ".join(f"{levels[name]} {name}{'s' * (levels[name] > 1)}" for name in LEVEL_STYLES if levels[name])


def _painted(diagnostic: Diagnostic, text: str, on: bool) -> str:
    first, *rest = text.split("\n")
    head, colon, message = first.partition(":")
    lines = [paint(head, LEVEL_STYLES[diagnostic.level], on) + colon + paint(message, "bold", on)]
    return "\n".join(lines + [_painted_line(line, on) for line in rest])


def _painted_line(line: str, on: bool) -> str:
    label, colon, text = line.partition(": ")
    if label in ("help", "why", "more"):
        return paint(label, "cyan", on) + colon + text
    return paint(line, "blue", on) if line.startswith(" --> ") else line
