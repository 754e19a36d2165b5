"""Modules beside the notebook, which were read as cells: imported as before, where the script changes nothing of them.

Of one that it does change, what the training needs is copied, with whatever uses it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from nbddp.analysis import Plan
from nbddp.analysis.syntax import Statement
from nbddp.diagnostics import Diagnostic
from nbddp.edits import Edit
from nbddp.modules import Module, folders, imports_of, reached
from nbddp.notebook import Brought, Cell
from nbddp.sentence import sentence

NAME = "modules"
WORD = re.compile(r"[^\W\d]\w*")
IMPORT = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class Given:
    """A name that comes by an import."""

    text: str  # that import
    at: int  # the index of the statement behind it


@dataclass(frozen=True)
class Modules:
    """What becomes of them in the script."""

    kept: tuple[Statement, ...]  # that the script writes
    given: dict[str, Given]
    fields: frozenset[str]  # names that are read as `losses.pairs`

    @property
    def names(self) -> Set[str]:
        return self.given.keys() | self.fields

    @property
    def imported(self) -> frozenset[str]:
        """The packages or files that hold them."""
        return frozenset(one.text.split()[1].partition(".")[0] for one in self.given.values())

    def behind(self, statement: Statement) -> bool:
        """Is any of them imported behind a statement, which may say where it is found?"""
        return any(one.at > statement.index for one in self.given.values())

    def imports(self, used: Set[str], first: int = -1) -> list[str]:
        """Of names that are used, those behind a statement."""
        return [one.text for name, one in self.given.items() if name in used and one.at > first]


def modules_of(plan: Plan, edits: Sequence[Edit]) -> Modules:
    copied = _copied(plan, edits)
    apart = [s for s in plan.kept if s.cell.file and s.cell not in copied]
    as_written = {one.name: Given(one.text, _statements_above(plan, line)) for line, one in plan.program.brought_at()}
    first = min((one.at for one in as_written.values()), default=0)
    own = [(s, n) for s in apart if not isinstance(s.node, IMPORT) for n in sorted(plan.flow.effects[s.index].may_bind)]
    fields = {n for names in plan.notebook.attributes.values() for n in names.values()} - as_written.keys()
    fields -= {n for s in plan.kept if s.cell in copied for n in _read(plan, s)}
    given = {n: as_written.get(n, Given(f"from {s.cell.module} import {n}", first)) for s, n in own if n not in fields}
    there = {n for _, n in own}
    given |= {name: as_written[name] for name, names in plan.notebook.attributes.items() if there & {*names.values()}}
    renamed = {name: s for s in plan.kept if (name := _renamed(s, given)) in as_written and not s.cell.file}
    given |= {name: as_written[name] for name in renamed}
    gone = {s for s in apart if not isinstance(s.node, IMPORT) or _is_their_own(s.node)} | {*renamed.values()}
    return Modules(tuple(s for s in plan.kept if s not in gone), given, frozenset(fields & there))


def to_flatten(plan: Plan, edits: Sequence[Edit]) -> set[str]:
    """Names of modules, read as `losses.pairs`, of which something is copied: the script has that by its own name.

    And of those of which a rule writes something, which it does by that name: `sum_over_ranks(seen)` of `config.seen`.
    """
    cells = _copied(plan, edits)
    there = {n for s in plan.kept if s.cell in cells for n in plan.flow.effects[s.index].may_bind}
    there |= {word for edit in edits for word in WORD.findall(edit.text)}
    return {name for name, names in plan.notebook.attributes.items() if there & {*names.values()}}


def _statements_above(plan: Plan, line: int) -> int:
    return sum(s.node.lineno < line for s in plan.program.statements)


def kept_of_modules(plan: Plan) -> Iterator[Brought]:
    """The notebook's imports of what the training needs of modules."""
    needed = {n for s in plan.kept if s.cell.file for n in plan.flow.effects[s.index].may_bind}
    renamed = {n for s in plan.kept for n in plan.flow.effects[s.index].may_bind}
    return (one for one in plan.notebook.brought if one.name in (renamed if " as " in one.text else needed))


def copied(plan: Plan, edits: Sequence[Edit]) -> Iterator[Diagnostic]:
    """What is told of them."""
    cells = _copied(plan, edits)
    for cell in cells:
        message = sentence("what the training needs of %1 stands in the script, which changes it", cell.file)
        why = sentence("on several processes something of it must be written in another way; the file stays as it is")
        yield Diagnostic(NAME, "note", message, why=why, file=cell.file)
    with_classes = {s.cell for s in plan.kept if isinstance(s.node, ast.ClassDef)}.intersection(cells)
    for user, cell in _users(plan, with_classes):
        yield Diagnostic(
            NAME, "error",
            sentence("%1 has classes that the script changes, and %2, which it imports, goes on with those of the file",
                     cell.file, user),
            why=sentence("an object of the script's class is none of the file's, as isinstance tells"),
            help=sentence("write what the training needs of both into cells of the notebook"),
            file=cell.file,
        )  # fmt: skip


def _users(plan: Plan, cells: Set[Cell]) -> Iterator[tuple[str, Cell]]:
    """Files that were not read, and are imported all the same, with those of the cells that they import."""
    folder, standing = plan.notebook.folder, [s.node for s in plan.kept if isinstance(s.node, IMPORT)]
    read = {c.module for c in plan.program.cells if c.file}
    if folder is None or not cells:
        return
    names = [n for node in standing for n in imports_of(Module("", "", "", ast.Module([node], [])))]
    found = reached(folders(folder, [plan.program.tree]), {*names} - read, folder)
    for module in (m for m in found.values() if m.name not in read):
        for cell in sorted(cells, key=lambda c: c.number):
            if cell.module in imports_of(module):
                yield module.file, cell


def _copied(plan: Plan, edits: Sequence[Edit]) -> list[Cell]:
    """Those with an edit; a module that imports from one of them would get what it was."""
    cells = [c for c in plan.program.cells if c.file]
    edited = {plan.program.place(_line(plan, e))[0] for e in edits} if cells else set()
    copied = [c for c in cells if c in edited]
    binds, reads = {c: set[str]() for c in cells}, {c: set[str]() for c in cells}
    for s in (s for s in plan.kept if s.cell.file):
        found = plan.flow.effects[s.index]
        binds[s.cell] |= set() if isinstance(s.node, IMPORT) else found.may_bind
        reads[s.cell] |= _read(plan, s)
    while more := [c for c in cells if c not in copied and any(reads[c] & binds[other] for other in copied)]:
        copied += more
    return [c for c in cells if c in copied]


def _read(plan: Plan, statement: Statement) -> Set[str]:
    found = plan.flow.effects[statement.index]
    return found.reads | found.deferred


def _line(plan: Plan, edit: Edit) -> int:
    return plan.program.text.count("\n", 0, edit.start) + 1


def _renamed(statement: Statement, given: Mapping[str, Given]) -> str:
    """`Loss = TripletLoss`, which was an import in that place."""
    match statement.node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=value)) if value in given:
            return name
    return ""


def _is_their_own(node: ast.stmt) -> bool:
    """`from __future__ import annotations`, `from .layers import *`: of that file alone."""
    return isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.names[0].name == "*")
