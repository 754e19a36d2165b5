"""What an export would do with a notebook, without writing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nbddp.analysis import Plan, make_plan
from nbddp.analysis.library import Use
from nbddp.analysis.syntax import Statement
from nbddp.diagnostics import CannotExport, Diagnostic, in_order
from nbddp.export import export
from nbddp.modules import with_modules
from nbddp.notebook import Notebook, read_notebook
from nbddp.options import Options
from nbddp.script.from_modules import kept_of_modules


@dataclass(frozen=True)
class Kept:
    """A statement that the script has."""

    cell: int
    line: int
    source: str


@dataclass(frozen=True)
class Dropped:
    """A statement that the script leaves out."""

    cell: int
    line: int
    source: str
    why: str


@dataclass(frozen=True)
class Role:
    """What a variable is in the training."""

    name: str
    role: str
    cell: int
    sure: bool  # seen by what the code does, not by what things are called
    file: str = ""  # of a module beside the notebook, where it is made there


@dataclass(frozen=True)
class Report:
    """What `nbddp check` shows."""

    kept: tuple[Kept, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    roles: tuple[Role, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def check(source: Path | str | Notebook, options: Options | None = None) -> Report:
    """Everything that an export finds out; a notebook that cannot be exported has its reasons in `diagnostics`."""
    notebook = source if isinstance(source, Notebook) else read_notebook(source)
    try:
        plan = make_plan(with_modules(notebook), options or Options())
    except CannotExport as refusal:
        return Report(diagnostics=refusal.diagnostics)
    try:
        found = export(notebook, options).diagnostics
    except CannotExport as refusal:
        found = refusal.diagnostics
    kept = sorted(_kept(plan), key=lambda one: (one.cell, one.line))
    return Report(tuple(kept), tuple(_dropped(plan)), tuple(_roles(plan)), in_order(found))


def _place(plan: Plan, statement: Statement) -> tuple[int, int, str]:
    line = plan.program.place(statement.node.lineno)[1]
    return statement.cell.number, line, plan.program.source(statement.node)


def _kept(plan: Plan) -> Iterator[Kept]:
    for statement in (s for s in plan.kept if not s.cell.file):
        yield Kept(*_place(plan, statement))
    yield from (Kept(one.cell, one.line, one.text) for one in kept_of_modules(plan))


def _dropped(plan: Plan) -> Iterator[Dropped]:
    for index, why in plan.slice.dropped.items():
        if not (statement := plan.program.statements[index]).cell.file:
            yield Dropped(*_place(plan, statement), why)


def _roles(plan: Plan) -> Iterator[Role]:
    """Names of the cells by what they hold at the end."""
    kinds = {"optimizer": "optimizer", "scheduler": "scheduler", "scaler": "gradient scaler", "loss": "loss",
             "device": "device"}  # fmt: skip
    trained = {m.obj for m in plan.roles.models}
    if plan.framework is not None:
        yield from _framework_roles(plan, plan.framework)
        return
    for name, value in plan.facts.final.items():
        for obj in sorted(value.objs, key=lambda o: getattr(o.node, "lineno", 0)):
            role = kinds.get(obj.kind)
            if obj.kind == "model":
                role = "model" if obj in trained else "model that is not trained"
            elif obj.kind == "loader" and obj in plan.roles.training_loaders:
                role = "training loader"
            elif obj.kind == "loader":
                role = "evaluation loader" if obj in plan.roles.evaluation_loaders else "loader that is not used"
            if role and hasattr(obj.node, "lineno"):
                cell = plan.program.cell_of(obj.node)
                yield Role(name, role, cell.number, sure=not plan.sharding.mixed, file=cell.file)
                break


def _framework_roles(plan: Plan, use: Use) -> Iterator[Role]:
    """What the framework does with a loader or a model, it knows alone."""
    for name, value in plan.facts.final.items():
        held = [o for o in value.of("model", "loader", "optimizer", "scheduler") if hasattr(o.node, "lineno")]
        for obj in sorted(held, key=lambda o: getattr(o.node, "lineno", 0))[:1]:
            yield Role(name, obj.kind, plan.program.cell_of(obj.node).number, sure=True)
    for call in use.trained:
        assert isinstance(call.func, ast.Attribute)
        trainer = plan.program.source(call.func.value)
        yield Role(trainer, f"trains with {use.framework.name}", plan.program.cell_of(call).number, sure=True)


__all__ = ["Dropped", "Kept", "Report", "Role", "check"]
