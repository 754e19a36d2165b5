"""Another name for what a module has at its top level, where the notebook calls something else so: `device`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from nbddp.analysis.slicing import bound_names, local_names
from nbddp.analysis.syntax import walk

DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Fixed(Exception):
    """The name stands where it cannot be told, or not be changed."""


def renamed(text: str, statements: Iterable[ast.stmt], names: Mapping[str, str]) -> str:
    """The text with these names of the top level replaced; raises Fixed."""
    lines = text.split("\n")
    for line, column, old in sorted({p for name in names for p in _places(statements, name, lines)}, reverse=True):
        row = lines[line - 1].encode()
        assert row[column:].startswith(old.encode()), "a name stands where the tree has it"
        lines[line - 1] = (row[:column] + names[old].encode() + row[column + len(old.encode()) :]).decode()
    return "\n".join(lines)


def _places(nodes: Iterable[ast.AST], name: str, lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Line, column in bytes and name, wherever the name is that of the top level."""
    for node in nodes:
        match node:
            case ast.Name(id=found) if found == name:
                yield node.lineno, node.col_offset, name
            case ast.Global() | ast.Import() | ast.ImportFrom() if name in _named(node):
                raise Fixed(name)
            case ast.JoinedStr() if any(isinstance(n, ast.Name) and n.id == name for n in walk(node)):
                raise Fixed(name)  # Python 3.11 does not say where it stands there
            case ast.ClassDef(body=body) if name in bound_names(body):
                raise Fixed(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
                yield from _in_scope(node, name, lines)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() if name in _targets(node):
                raise Fixed(name)
            case _:
                yield from _places(ast.iter_child_nodes(node), name, lines)


def _in_scope(node: DEFINITION | ast.Lambda, name: str, lines: list[str]) -> Iterator[tuple[int, int, str]]:
    if isinstance(node, DEFINITION) and node.name == name:
        match = re.compile(rb"(?:async\s+)?(?:def|class)\s+").match(lines[node.lineno - 1].encode(), node.col_offset)
        assert match is not None, "a definition begins with its keyword"
        yield node.lineno, match.end(), name
    own = not isinstance(node, ast.ClassDef) and name in local_names(node)
    body = node.body if isinstance(node.body, list) else [node.body]
    yield from _places([n for n in ast.iter_child_nodes(node) if not own or n not in body], name, lines)


def _named(node: ast.Global | ast.Import | ast.ImportFrom) -> set[str]:
    return set(node.names) if isinstance(node, ast.Global) else bound_names([node])


def _targets(node: COMPREHENSION) -> set[str]:
    return {n.id for g in node.generators for n in walk(g.target) if isinstance(n, ast.Name)}
