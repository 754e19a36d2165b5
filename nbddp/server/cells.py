"""The part that each cell plays in the training, and why: what the page shows at the cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from nbddp.analysis import Plan
from nbddp.diagnostics import CannotExport, Diagnostic, in_order
from nbddp.export import decided
from nbddp.modules import with_modules
from nbddp.notebook import Cell, Notebook
from nbddp.options import Options
from nbddp.script.from_modules import kept_of_modules
from nbddp.sentence import Sentence, sentence

MOST_NAMES = 6
Found = tuple[str, list[Sentence]]  # a role and its reasons


def cells_of(notebook: Notebook, options: Options) -> dict[str, Any]:
    """A role and a reason for each code cell; without a plan, what the cells are marked with."""
    try:
        plan, _, found = decided(with_modules(notebook), options)
    except CannotExport as refusal:
        return _answer(notebook, None, refusal.diagnostics)
    return _answer(notebook, plan, in_order(found))


def _answer(notebook: Notebook, plan: Plan | None, diagnostics: tuple[Diagnostic, ...]) -> dict[str, Any]:
    whys = dict(_whys(plan)) if plan else {}
    cells = [_cell(cell, plan, whys) for cell in notebook.cells if cell.kind == "code"]
    return {
        "training": plan.training_cell if plan else None,
        "cells": cells,
        "diagnostics": [diagnostic.for_page() for diagnostic in diagnostics],
    }


def _cell(cell: Cell, plan: Plan | None, whys: Mapping[int, Found]) -> dict[str, Any]:
    """`role` is a mark's name, or "kept", "left-out" and "invalid" for what was found; "" where nothing is known."""
    role, why = whys.get(cell.number, ("left-out" if plan and cell.source.strip() else "", []))
    if cell.mark:
        needed = why if role == "kept" and cell.mark != "train" else []
        role, why = cell.mark, [sentence("marked by %1", _mark_of(cell)), *needed]
    elif plan and cell.number == plan.training_cell:
        role, why = "train", [sentence("the only cell that trains")]
    elif cell.error:
        role, why = "invalid", [sentence("not valid Python: %1", cell.error.message)]
    return {
        "number": cell.number,
        "id": cell.id,
        "role": role,
        "why": "; ".join(why),
        "words": [one.words for one in why],
        "marked": str(_mark_of(cell)),
    }


def _mark_of(cell: Cell) -> str:
    """Where the mark stands; only a tag can be changed without changing the cell's text."""
    if cell.mode:
        return f"%%{cell.mode}_train"
    if cell.mark and cell.directive == cell.mark:
        return f"#| ddp: {cell.directive}"
    return sentence("its tag") if cell.mark else ""


def _whys(plan: Plan) -> Iterator[tuple[int, Found]]:
    kept: dict[int, dict[str, None]] = {}
    for statement in plan.kept:
        effects = plan.flow.effects[statement.index]
        names = sorted(effects.binds | effects.may_bind) or sorted(effects.mutates)
        kept.setdefault(statement.cell.number, {}).update(dict.fromkeys(names))
    for one in kept_of_modules(plan):
        kept.setdefault(one.cell, {})[one.name] = None
    left: dict[int, dict[Sentence, None]] = {}
    for index, why in plan.slice.dropped.items():
        left.setdefault(plan.program.statements[index].cell.number, {})[why] = None
    for number in kept.keys() | left.keys():
        if number in kept:
            yield number, ("kept", _kept_why(list(kept[number]), in_part=number in left))
        else:
            yield number, ("left-out", list(left[number]))


def _kept_why(names: list[str], *, in_part: bool) -> list[Sentence]:
    shown = ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
    needed = (
        sentence("the training needs %1", shown) if names else sentence("it changes something that the training uses")
    )
    return [needed, sentence("a part of it is left out")] if in_part else [needed]
