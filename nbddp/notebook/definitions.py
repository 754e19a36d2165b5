"""`loss = lambda x: model(x).mean()` as the function that it is: what is changed in it needs statements of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from nbddp.notebook.model import Notebook
from nbddp.notebook.syntax import parse

Named = tuple[ast.Assign, ast.Name, ast.Lambda]


def with_definitions(notebook: Notebook) -> Notebook:
    """On the lines where it stands; as it was where no such thing has a name."""
    own = {c: _rewritten(c.code) for c in notebook.cells if c.kind == "code" and not (c.file or c.error)}
    cells = tuple(replace(c, code=own[c]) if own.get(c, c.code) != c.code else c for c in notebook.cells)
    return notebook if cells == notebook.cells else replace(notebook, cells=cells)


def _rewritten(code: str) -> str:
    lines = code.split("\n")
    for statement, name, function in _named(code) if "lambda" in code else ():
        row = lines[statement.lineno - 1].encode()
        indent, begun = row[: statement.col_offset].decode(), row[statement.col_offset : function.col_offset].decode()
        plain = not indent.strip() and re.fullmatch(rf"{name.id}\s*=\s*", begun) and _ends(lines, statement)
        if plain and function.body.lineno == statement.lineno:
            colon = row.rindex(b":", 0, function.body.col_offset)  # what follows it, up to the body, is "(" at most
            given, result = ast.unparse(function.args), row[colon + 1 :].decode().lstrip()
            lines[statement.lineno - 1] = f"{indent}def {name.id}({given}): return {result}"
    return "\n".join(lines)


def _named(code: str) -> Iterator[Named]:
    for node in ast.walk(parse(code)):
        match node:
            case ast.Assign(targets=[ast.Name() as name], value=ast.Lambda() as function):
                yield node, name, function


def _ends(lines: list[str], statement: ast.Assign) -> bool:
    """On its line: no other statement follows."""
    behind = lines[(statement.end_lineno or 0) - 1].encode()[statement.end_col_offset :].decode().strip()
    return not behind or behind.startswith("#")
