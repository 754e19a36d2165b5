"""The notebook's code cells as one text and one syntax tree, each node with its exact place."""

from __future__ import annotations

import ast
import bisect
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from nbddp.analysis.syntax.annotations import take_annotations
from nbddp.analysis.syntax.field_names import with_names
from nbddp.analysis.syntax.main_guard import without_guard
from nbddp.analysis.syntax.text_fields import TextField, text_fields
from nbddp.diagnostics import Diagnostic, Level
from nbddp.notebook import Brought, Cell, Notebook, parse
from nbddp.sentence import NOTHING, Sentence, sentence


@dataclass(frozen=True)
class Statement:
    """One statement at the top level of a cell."""

    index: int
    node: ast.stmt
    cell: Cell


@dataclass(frozen=True, eq=False)
class Program:
    """All code cells that parse, joined; offsets are characters of `text`."""

    notebook: Notebook
    text: str
    tree: ast.Module
    statements: tuple[Statement, ...]
    line_starts: tuple[int, ...]
    cell_lines: tuple[int, ...]  # first line (1-based) of each cell in `cells`
    cells: tuple[Cell, ...]
    parents: dict[ast.AST, ast.AST] = field(repr=False)
    annotations: Mapping[ast.Assign, ast.expr] = field(repr=False)  # of names; to the tree they are plain assignments
    needs: tuple[str, ...] = ()  # modules that code made from magics names without an import of its own
    again: dict[tuple[ast.AST, ast.AST], ast.AST] = field(default_factory=dict, repr=False)  # calls, by what is around

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree, as `ast.walk` has it, walked once: that takes longer than most of what is asked of them."""
        return (self.tree, *self.parents)

    def offset(self, line: int, column: int) -> int:
        """A place of `ast` (line, UTF-8 column) as a character offset."""
        start = self.line_starts[line - 1]
        text = self.text[start : self.line_starts[line] if line < len(self.line_starts) else len(self.text)]
        return start + (column if text.isascii() else len(text.encode()[:column].decode(errors="replace")))

    def span(self, node: ast.AST) -> tuple[int, int]:
        start = self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return start, self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def source(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def place(self, line: int) -> tuple[Cell, int]:
        """The cell and the line in it for a line of `text`."""
        at = bisect.bisect_right(self.cell_lines, line) - 1
        return self.cells[at], line - self.cell_lines[at] + 1

    def brought_at(self) -> Iterator[tuple[int, Brought]]:
        """What comes of modules that are read, with the line of `text` where it is imported."""
        first = {cell.number: line for cell, line in zip(reversed(self.cells), reversed(self.cell_lines), strict=True)}
        at = {c.number: first.get(c.number) for c in self.notebook.cells}
        for one in self.notebook.brought:
            later = (line for number, line in at.items() if number > one.cell and line is not None)
            here = at.get(one.cell)
            yield (here + one.line - 1 if here is not None else next(later, len(self.line_starts))), one

    def cell_of(self, node: ast.AST) -> Cell:
        return self.place(node.lineno)[0]  # type: ignore[attr-defined]

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds the node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost `def` around the node; None at the top level of a cell."""
        of_text = isinstance(node, ast.Attribute) and node not in self.parents  # a field that a text reads
        return self._functions.get(node.value if of_text else node)  # type: ignore[attr-defined]

    @cached_property
    def _functions(self) -> Mapping[ast.AST, ast.FunctionDef | ast.AsyncFunctionDef]:
        """Of the nodes in a function, the innermost one: `parents` has those above before those below."""
        found: dict[ast.AST, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        for node, parent in self.parents.items():
            around = parent if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) else found.get(parent)
            if around is not None:
                found[node] = around
        return found

    @cached_property
    def handed(self) -> Mapping[str, Sequence[tuple[ast.Call, ast.expr]]]:
        """The first two arguments of calls, by their text."""
        found = defaultdict[str, list[tuple[ast.Call, ast.expr]]](list)
        for call in (n for n in self.nodes if isinstance(n, ast.Call)):
            for given in (a for a in call.args[:2] if isinstance(a, ast.Name | ast.Attribute | ast.Subscript)):
                found[ast.unparse(given)].append((call, given))
        return found

    @cached_property
    def text_fields(self) -> Mapping[ast.Call, Sequence[TextField]]:
        """Of the calls of `format` on a text that stands there."""
        found = ((call, text_fields(call)) for call in self.nodes if isinstance(call, ast.Call))
        return {call: fields for call, fields in found if fields}

    def diagnose(
        self,
        rule: str,
        level: Level,
        node: ast.AST,
        message: Sentence,
        *,
        help: Sentence = NOTHING,
        why: Sentence = NOTHING,
    ) -> Diagnostic:
        """A finding at a node."""
        line: int = node.lineno  # type: ignore[attr-defined]
        cell, in_cell = self.place(line)
        column: int = node.col_offset + 1  # type: ignore[attr-defined]
        lines = cell.source.split("\n")
        source = lines[in_cell - 1] if in_cell <= len(lines) else ""
        return Diagnostic(rule, level, message, cell.number, in_cell, column, help, why, source, cell.file)


def place_of(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def build_program(notebook: Notebook) -> Program:
    """Join the code cells that are Python; cells with errors and cells to skip take no part."""
    cells = tuple(c for c in notebook.cells if c.kind == "code" and c.code.strip() and not c.error and c.mark != "skip")
    first_lines, line = [], 1
    for cell in cells:
        first_lines.append(line)
        line += cell.code.count("\n") + 1
    text = "\n".join(without_guard(c.code) for c in cells) + "\n"
    own = next((line for cell, line in zip(cells, first_lines, strict=True) if not cell.file), line)
    tree = with_names(parse(text), notebook.attributes, own)
    annotations = take_annotations(tree)
    starts = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]
    at = [bisect.bisect_right(first_lines, _first_line(node)) - 1 for node in tree.body]
    statements = tuple(Statement(i, node, cells[at[i]]) for i, node in enumerate(tree.body))
    needs = tuple(sorted({n for c in cells for n in c.needs_imports}))
    lines = tuple(starts), tuple(first_lines)
    return Program(notebook, text, tree, statements, *lines, cells, _parents(tree), annotations, needs)


def _parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """In the order of `ast.walk`; each node's children are looked for once."""
    found: dict[ast.AST, ast.AST] = {}
    waiting = [tree]
    for node in waiting:
        children = list(ast.iter_child_nodes(node))
        found.update(dict.fromkeys(children, node))
        waiting += children
    return found


def too_deep(program: Program) -> Diagnostic:
    """Of a notebook that cannot be followed to its depth: where that is."""
    depth: dict[ast.AST, int] = {program.tree: 0}
    for child, parent in program.parents.items():
        if isinstance(child, ast.stmt | ast.expr):  # of one `Load()` in many places, only the last parent is known
            depth[child] = depth.get(parent, 0) + 1
    deepest = max(depth, key=lambda node: depth[node])
    return program.diagnose(
        "refuse", "error", program.statement_of(deepest),
        sentence("the code is nested too deeply for nbddp to follow: %1 levels", depth[deepest]),
        help=sentence("split it into several statements"),
    )  # fmt: skip


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    lines: list[int] = [node.lineno, *(d.lineno for d in decorators)]
    return min(lines)
