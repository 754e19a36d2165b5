"""Marks of cells that look meant for nbddp and are none, or that contradict each other."""

from __future__ import annotations

from difflib import get_close_matches

from nbddp.diagnostics import Diagnostic, Level
from nbddp.notebook import ROLES, Cell, Notebook, unknown_marks
from nbddp.sentence import NOTHING, Sentence, sentence

RULE = "marks"
TAGS = ("ddp-train", "ddp-setup", "ddp-rank0", "ddp-skip", "ddp-wrap", "ddp-connect", "parameters")
LINES = tuple(f"#| ddp: {role}" for role in ROLES)


def misspelt(notebook: Notebook) -> list[Diagnostic]:
    """A tag may be of somebody else's; a line that begins `#| ddp:` is ours, and what it asks for is not done."""
    found = []
    for cell in notebook.cells:
        for mark in unknown_marks(cell):
            level: Level
            known: tuple[str, ...]
            level, known = ("error", LINES) if mark.startswith("#|") else ("warning", TAGS)
            near = get_close_matches(mark, known, n=1, cutoff=0.7)
            every = sentence("the known marks are %1", ", ".join(known))
            advice = sentence("did you mean '%1'?", near[0]) if near else every
            message = sentence("nbddp does not know the mark '%1', so it has no effect", mark)
            found.append(_at(cell, mark, level, message, advice))
        if len(cell.marks) > 1:
            message = sentence("the cell has %1 different marks: %2", len(cell.marks), ", ".join(cell.marks))
            found.append(_at(cell, "#|", "error", message, sentence("keep only one of the marks")))
    return found


def _at(cell: Cell, mark: str, level: Level, message: Sentence, advice: Sentence) -> Diagnostic:
    lines = cell.source.split("\n")
    line = next((n for n, text in enumerate(lines, 1) if mark.startswith("#|") and text.lstrip().startswith("#")), 1)
    return Diagnostic(RULE, level, message, cell.number, line, 1, advice, NOTHING, lines[line - 1])
