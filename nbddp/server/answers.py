"""The compiler's answers as JSON, for a server's routes and, where only a kernel has nbddp, for that kernel."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.export import Script, decide, export
from nbddp.fingerprint import edited_since_export
from nbddp.script.from_modules import kept_of_modules
from nbddp.script.sections import sections
from nbddp.sentence import sentence, words_of
from nbddp.server.cells import cells_of
from nbddp.server.question import NoQuestion, Question, read_question

Answer = dict[str, Any]


def answer_export(question: Question) -> Answer:
    """The script, what was done to make it, and whether it would replace what a person has written."""
    try:
        script = export(question.notebook, question.options)
    except CannotExport as refusal:
        return {"exported": False, "diagnostics": _listed(refusal.diagnostics)}
    present = question.present
    kept = {s.cell.number for s in script.plan.kept if not s.cell.file}
    kept |= {one.cell for one in kept_of_modules(script.plan)}
    return {
        "exported": True,
        "script": script.text,
        "lines": script.line_map,
        "sections": [asdict(section) for section in sections(script.text, script.line_map)],
        "cells": sum(cell.kind == "code" and bool(cell.source.strip()) for cell in question.notebook.cells),
        "kept": len(kept),
        "rewrites": _rewrites(script),
        "diagnostics": _listed(script.diagnostics),
        "edited": present is not None and present != script.text and edited_since_export(present),
    }


def answer_check(question: Question) -> Answer:
    """The part that each cell plays, and every finding."""
    return cells_of(question.notebook, question.options)


ANSWERS: Mapping[str, Callable[[Question], Answer]] = {"export": answer_export, "check": answer_check}


def answer(what: str, body: object) -> Answer:
    """Of a question that makes no sense, {"refused": a sentence}."""
    try:
        return ANSWERS[what](read_question(body))
    except NoQuestion as refusal:
        return _refused(refusal.args[0])
    except RecursionError:
        return _refused(sentence("The notebook is nested too deeply to be read."))


def _refused(text: str) -> Answer:
    return {"refused": text, "words": words_of(text)}


def answer_kernel(what: str, text: str) -> object:
    """The same as a page asks a kernel: an expression's value that is shown as JSON."""
    from IPython.display import JSON

    body = {**json.loads(text), "folder": str(Path.cwd())}
    shown: object = JSON(answer(what, body))  # type: ignore[no-untyped-call]
    return shown


def _rewrites(script: Script) -> dict[str, int]:
    """How often each rule has changed something."""
    return dict(Counter(edit.rule for edit in decide(script.plan)[0]).most_common())


def _listed(diagnostics: Iterable[Diagnostic]) -> list[Answer]:
    return [diagnostic.for_page() for diagnostic in diagnostics]
