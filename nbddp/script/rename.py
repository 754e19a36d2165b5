"""Give names of copied code other names, where the notebook has taken their own."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping

from nbddp.analysis import Plan
from nbddp.analysis.library import HIDES
from nbddp.analysis.syntax import walk
from nbddp.script.layout import Layout


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


def of_python(plan: Plan, layout: Layout) -> dict[str, str]:
    """Python's own names that stand for something else at the module: `from numpy import *` brings another `max`."""
    imports = [s.node for s in layout.imports if isinstance(s.node, ast.ImportFrom)]
    starred = (HIDES.get(n.module or "", frozenset()) for n in imports if n.names[0].name == "*")
    bound = {n for s in (*layout.imports, *layout.module) for n in plan.flow.effects[s.index].may_bind}
    hidden = bound.union(layout.global_names, *starred) & vars(builtins).keys()
    return {name: f"builtins.{name}" for name in hidden}
