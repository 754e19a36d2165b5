"""Functions of the notebook that train: while the cell runs they tell how far they are, and stay the same objects."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from nbddp.analysis import Plan
from nbddp.edits import Edit
from nbddp.inkernel.places import cell_span, edited, falling_into, is_inserted, tree_of
from nbddp.notebook import Cell

Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef
Compile = Callable[[ast.Module], CodeType]


@dataclass(frozen=True)
class Watched:
    """A live function, and its code with words between its lines."""

    function: FunctionType
    code: CodeType


def watched(
    plan: Plan, edits: Sequence[Edit], namespace: Mapping[str, Any], compiled: Compile
) -> tuple[list[Watched], list[str]]:
    """Those of the other cells in which there is something to say; and the names of those that are not as written."""
    found: list[Watched] = []
    others: list[str] = []
    for cell in plan.program.cells:
        if cell.number == plan.training_cell:
            continue
        for path, before, after in _edited(plan, cell, edits, compiled):
            function = _live(namespace, path)
            if function is None or not alike(function.__code__, before) or before.co_freevars != after.co_freevars:
                others.append(".".join(path))
            else:
                found.append(Watched(function, at_home(after, function.__code__)))
    return found, others


def _edited(
    plan: Plan, cell: Cell, edits: Sequence[Edit], compiled: Compile
) -> Iterator[tuple[tuple[str, ...], CodeType, CodeType]]:
    """The path of each function that has edits, its code as written and as edited."""
    start, end, line = cell_span(plan.program, cell)
    owned = falling_into(edits, start, end)
    nodes = [s.node for s in plan.program.statements if s.cell is cell and isinstance(s.node, Definition)]
    spans = {path: _lines_of(plan, node) for top in nodes for path, node in _functions(top, ())}
    inside = [e for e in owned if any(first <= e.start <= last for first, last in spans.values())]
    if not inside:
        return
    before = _codes(tree_of(plan.program, edited(plan.program, start, end, []), line), compiled)
    after = _codes(tree_of(plan.program, edited(plan.program, start, end, inside), line), compiled)
    for path, (first, last) in spans.items():
        if any(first <= e.start <= last for e in inside) and path in before and path in after:
            yield path, before[path], after[path]


def _functions(node: ast.stmt, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Function]]:
    """Functions that are no part of another function."""
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            yield from _functions(part, (*path, node.name))
    elif isinstance(node, Function):
        yield (*path, node.name), node


def _lines_of(plan: Plan, node: ast.AST) -> tuple[int, int]:
    """To the end of its last line, where a line that is put behind its last statement begins."""
    start, end = plan.program.span(node)
    return start, plan.program.text.find("\n", end) + 1


def _codes(tree: ast.Module, compiled: Compile) -> dict[tuple[str, ...], CodeType]:
    tops: list[ast.stmt] = [n for n in tree.body if isinstance(n, Definition) and not is_inserted(n)]
    found: dict[tuple[str, ...], CodeType] = {}
    for top in tops:
        paths = [path for path, _ in _functions(top, ())]
        module = compiled(ast.Module([top], []))
        for path in paths:
            if (code := _inside(module, path)) is not None:
                found[path] = code
    return found


def _inside(code: CodeType | None, path: tuple[str, ...]) -> CodeType | None:
    """The last that has the name, as the last definition of a name is the one that counts."""
    for name in path:
        codes = [c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name] if code else []
        code = codes[-1] if codes else None
    return code


def _live(namespace: Mapping[str, Any], path: tuple[str, ...]) -> FunctionType | None:
    """The function by its path, through decorators that say what they wrap."""
    thing: Any = namespace.get(path[0])
    for name in path[1:]:
        thing = vars(thing).get(name) if isinstance(thing, type) else None
    thing = getattr(thing, "__func__", thing)
    while hasattr(thing, "__wrapped__"):
        thing = thing.__wrapped__
    return thing if isinstance(thing, FunctionType) else None


def alike(one: CodeType, other: CodeType) -> bool:
    """Whether two codes do the same, wherever they were written."""
    names = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount")
    if any(getattr(one, name) != getattr(other, name) for name in names) or len(one.co_consts) != len(other.co_consts):
        return False
    pairs = zip(one.co_consts, other.co_consts, strict=True)
    return all(alike(a, b) if isinstance(a, CodeType) and isinstance(b, CodeType) else a == b for a, b in pairs)


def at_home(code: CodeType, home: CodeType) -> CodeType:
    """The code with the file and the lines of another, in which it was written."""
    return _moved(code, home.co_filename, home.co_firstlineno - code.co_firstlineno, home)


def _moved(code: CodeType, filename: str, lines: int, home: CodeType | None = None) -> CodeType:
    inner = tuple(_moved(c, filename, lines) if isinstance(c, CodeType) else c for c in code.co_consts)
    # the table of lines counts from the first one on, so that moving that moves all
    made = code.replace(co_filename=filename, co_firstlineno=code.co_firstlineno + lines, co_consts=inner)
    return made.replace(co_name=home.co_name) if home else made
