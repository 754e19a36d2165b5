"""Comments of imports: they go where the import goes, in the block at the top of the script."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nbddp.analysis.syntax import Program, Statement
from nbddp.script.regions import Region


@dataclass(frozen=True)
class Comments:
    """Above an import, and behind it."""

    above: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)

    def around(self, line: str) -> str:
        return "\n".join([*self.above, "  ".join([line, *self.behind])])


def comments_of(program: Program, imports: Iterable[Statement], spans: Mapping[int, Region]) -> dict[int, Comments]:
    """By the index of the import; marks of the cell (`#| ddp: setup`) have been obeyed and are left out."""
    return {s.index: _of_statement(program, s, spans[s.index]) for s in imports}


def _of_statement(program: Program, statement: Statement, region: Region) -> Comments:
    text = program.text[region.lead : region.end]
    first = program.text.count("\n", region.lead, region.start) + 1
    last = first + (statement.node.end_lineno or statement.node.lineno) - statement.node.lineno
    found = Comments()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#|"):
            (found.behind if first <= token.start[0] <= last else found.above).append(token.string)
    return found


def taken_apart(text: str) -> tuple[ast.Import | ast.ImportFrom, Comments]:
    """An import with its comments, as `around` puts it together."""
    *above, line = text.split("\n")
    node = ast.parse(line).body[0]
    assert isinstance(node, ast.Import | ast.ImportFrom)
    behind = line.encode()[node.end_col_offset :].decode().strip()
    return node, Comments(above, [behind] if behind else [])
