"""Give names of copied code other names, where the notebook has taken their own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from nbddp.analysis.syntax import walk


def renamed(source: str, names: Mapping[str, str]) -> str:
    """The source with these names replaced wherever they are names: not in strings, attributes or keywords."""
    names = {old: new for old, new in names.items() if old != new and old in source}
    if not names:
        return source
    lines = source.split("\n")
    for line, column, old in sorted(_places(source), reverse=True):
        if old in names:
            text = lines[line].encode()
            lines[line] = (text[:column] + names[old].encode() + text[column + len(old.encode()) :]).decode()
    return "\n".join(lines)


def _places(source: str) -> Iterator[tuple[int, int, str]]:
    """Line, column in bytes, and name."""
    lines = source.split("\n")
    for node in walk(ast.parse(source)):
        if isinstance(node, ast.Name):
            yield node.lineno - 1, node.col_offset, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno - 1, node.col_offset, node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            match = re.compile(r"(?:def|class)\s+").match(lines[node.lineno - 1], node.col_offset)
            assert match is not None, "a definition begins with its keyword"
            yield node.lineno - 1, match.end(), node.name


def import_as(line: str, name: str) -> str:
    """The import line, binding its one name as `name`."""
    statement = ast.parse(line).body[0]
    assert isinstance(statement, ast.Import | ast.ImportFrom)
    (alias,) = statement.names
    alias.asname = name if name != alias.name else None
    return ast.unparse(statement)
