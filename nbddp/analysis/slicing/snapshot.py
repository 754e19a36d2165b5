"""`--snapshot NAMES`: values that the notebook hands over to the script, instead of the cells that make them.

The notebook is rewritten before it is followed: behind the last statement that changes a name stands
`xs = from_snapshot("xs")`. The slice then leaves out by itself what only served to make it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from nbddp.analysis.slicing.slice import Flow
from nbddp.analysis.syntax import Program, Statement, walk
from nbddp.analysis.values import Value
from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.notebook import Cell, Notebook
from nbddp.sentence import NOTHING, Sentence, sentence

RULE = "snapshot"
LOAD = "from_snapshot"
DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
IMPORT = ast.Import | ast.ImportFrom
# What a process has to have by its own building, with what to hand over instead.
NOT_BY_VALUE = {
    "loader": sentence("a DataLoader, and each process builds its own: name its dataset instead"),
    "sampler": sentence("a sampler, and each process builds its own: name the dataset instead"),
    "model": sentence("a model, whose current state the training starts from anyway"),
    "optimizer": sentence("an optimizer, whose current state the training starts from anyway"),
    "scheduler": sentence("a scheduler, whose current state the training starts from anyway"),
    "scaler": sentence("a gradient scaler, whose current state the training starts from anyway"),
    "device": sentence("a device, and each process has its own"),
}
# Statements that set up what the rest needs as well, though they stand beside those that make a value.
SETS_UP = ("seed", "os.environ", "os.chdir", "sys.path", "torch.set_", "torch.backends", "torch.use_", "warnings.")


def given(flow: Flow, names: Iterable[str], training: int) -> dict[str, Statement]:
    """Where each name gets the value that it has when the training begins; CannotExport for a name that has none."""
    before = [s for s in flow.program.statements if s.index < first_of(flow, training)]
    last: dict[str, Statement] = {}
    wrong = []
    for name in names:
        bound = [s for s in before if name in flow.effects[s.index].may_bind]
        if not bound:
            wrong.append(_unknown(name, {n for s in before for n in flow.effects[s.index].may_bind}))
        elif isinstance(bound[-1].node, DEFINITION | IMPORT):
            wrong.append(
                _error(sentence("'%1' is a function, a class or a module, which the script contains anyway", name))
            )
        else:
            last[name] = [s for s in before if name in _changed(flow, s)][-1]
    if LOAD in {n.id for n in flow.program.nodes if isinstance(n, ast.Name)}:
        message = sentence("the notebook defines '%1', a name that the script needs for itself: rename it", LOAD)
        wrong.append(_error(message))
    if wrong:
        raise CannotExport(wrong)
    return last


def first_of(flow: Flow, training: int) -> int:
    """The training cell's first statement."""
    return min(s.index for s in flow.program.statements if s.cell.number == training)


def _changed(flow: Flow, statement: Statement) -> set[str]:
    return flow.effects[statement.index].may_bind | set(flow.touched[statement.index])


def _unknown(name: str, known: set[str]) -> Diagnostic:
    near = get_close_matches(name, sorted(known), n=1)
    advice = sentence("did you mean '%1'?", near[0]) if near else sentence("name variables that earlier cells define")
    message = sentence("--snapshot names '%1', but no cell before the training cell defines it", name)
    return _error(message, advice)


def _error(message: Sentence, advice: Sentence = NOTHING) -> Diagnostic:
    return Diagnostic(RULE, "error", message, help=advice)


def refuse_kinds(names: Iterable[str], final: Mapping[str, Value]) -> None:
    """By value goes what is data; the rest each process builds for itself, or gets as state."""
    kinds = {name: {o.kind for o in final[name].objs} & NOT_BY_VALUE.keys() for name in names if name in final}
    wrong = {name: NOT_BY_VALUE[min(found)] for name, found in kinds.items() if found}
    if wrong:
        raise CannotExport(_error(sentence("a snapshot cannot hold '%1': it is %2", *pair)) for pair in wrong.items())


def with_loads(flow: Flow, last: Mapping[str, Statement]) -> Notebook:
    """The notebook with a cell of its own for each load; all other lines keep their numbers."""
    cells: list[Cell] = []
    for cell in flow.program.notebook.cells:
        ends: dict[int, list[str]] = {}
        for name, statement in last.items():
            if statement.cell is cell:
                ends.setdefault(_end(flow.program, statement), []).append(name)
        cells += _split(cell, ends) if ends else [cell]
    return replace(flow.program.notebook, cells=tuple(cells))


def _split(cell: Cell, ends: Mapping[int, Sequence[str]]) -> Iterator[Cell]:
    """What comes before, the loads at the lines of what they stand for, and what comes after."""
    lines = cell.code.split("\n")
    done = 0
    for end in sorted(ends):
        yield replace(cell, code="\n".join([""] * done + lines[done:end]))
        for name in ends[end]:
            code = "\n" * (end - 1) + f'{name} = {LOAD}("{name}")'
            yield replace(cell, code=code, mark=RULE, mode=None, needs_imports=(LOAD,))
        done = end
    if any(line.strip() for line in lines[done:]):
        yield replace(cell, code="\n".join([""] * done + lines[done:]))


def _end(program: Program, statement: Statement) -> int:
    """The last line of a statement in its cell, and of all others that begin there."""
    end = 0
    for other in program.statements:
        if other.cell is statement.cell and (other is statement or (end and _lines(program, other)[0] <= end)):
            end = max(end, _lines(program, other)[1])
    return end


def _lines(program: Program, statement: Statement) -> tuple[int, int]:
    first = program.place(statement.node.lineno)[1]
    return first, first + (statement.node.end_lineno or 0) - statement.node.lineno


def making(flow: Flow, names: Iterable[str], training: int) -> frozenset[int]:
    """Statements of the cells that make the values: what they do to the world beside belongs to that."""
    cells = {flow.program.statements[i].cell.number for name in names for i in flow.binders.get(name, ())} - {training}
    own = [s for s in flow.program.statements if s.cell.number in cells]
    return frozenset(s.index for s in own if not any(word in flow.program.source(s.node) for word in SETS_UP))


def definitions_of(flow: Flow, kept: Iterable[int], training: int) -> frozenset[int]:
    """Classes, and functions that are handed on, which the making of a value names: it may hold things of them.

    `kept` are the statements that the training would need without a snapshot.
    """
    first = first_of(flow, training)
    found: set[int] = set()
    todo: list[ast.AST] = [flow.program.statements[i].node for i in kept if i < first]
    todo = [node for node in todo if not isinstance(node, DEFINITION | IMPORT)]
    while todo:
        node = todo.pop()
        called = {n.func for n in walk(node) if isinstance(n, ast.Call)}
        for name in (n for n in walk(node) if isinstance(n, ast.Name)):
            at = flow.binder_before(name.id, first)
            definition = None if at is None else flow.program.statements[at].node
            if at is None or at in found or not isinstance(definition, DEFINITION):
                continue
            if isinstance(definition, ast.ClassDef) or name not in called:
                found.add(at)
            if definition not in todo and definition is not node:
                todo.append(definition)
    return frozenset(found)


def still_made(flow: Flow, kept: Iterable[int], last: Mapping[str, Statement]) -> Iterator[Diagnostic]:
    """A value is handed over in vain where what made it is needed all the same."""
    for i in kept:
        statement = flow.program.statements[i]
        for name in sorted(flow.effects[i].may_bind & last.keys()):
            if statement.cell.mark == RULE or statement.cell.number > last[name].cell.number:
                continue
            others = sorted(flow.effects[i].may_bind - last.keys())
            yield _made_all_the_same(flow, statement, name, ", ".join(others))


def _made_all_the_same(flow: Flow, statement: Statement, name: str, others: str) -> Diagnostic:
    why = sentence("it also creates %1", others) if others else sentence("something reads it before it is complete")
    return flow.program.diagnose(
        RULE, "warning", statement.node,
        sentence("'%1' comes from the snapshot, but this code still runs: %2", name, why),
        help=sentence("name in --snapshot what else the training needs of it: %1", others) if others
        else sentence("name in --snapshot what else the training needs of it"),
    )  # fmt: skip
