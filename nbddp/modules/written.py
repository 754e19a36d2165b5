"""What is read of a module as a cell, and the notebook's cells without the imports of that, line for line."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from nbddp.modules.parts import Part, Parts, from_imports, full_name, inlined, is_star
from nbddp.modules.renaming import renamed
from nbddp.notebook import Brought, Cell


def module_cell(part: Part, parts: Parts) -> Cell:
    """The needed lines of the file where they stand, with the comments above them; all others are empty."""
    module = part.module
    lines = module.text.split("\n")
    kept = {n for s in part.statements for n in _lines(s)}
    for first in [min(_lines(s)) for s in part.statements]:
        while first > 1 and lines[first - 2].startswith("#"):
            kept.add(first := first - 1)
    text = "\n".join(line if n in kept else "" for n, line in enumerate(lines, 1))
    text = renamed(text, part.statements, part.renames)
    imports = [s for s in part.statements if isinstance(s, ast.ImportFrom)]
    code = _rewritten(text, imports, module.name, parts)
    return Cell(0, "code", module.text, code, file=module.file, module=module.name)


def without_imports(code: str, tree: ast.Module, parts: Parts) -> str:
    return _rewritten(code, [n for n in tree.body if isinstance(n, ast.ImportFrom) and not n.level], "", parts)


def brought(cell: Cell, tree: ast.Module, parts: Parts, whole: Collection[str] = ()) -> Iterator[Brought]:
    """`from losses import TripletLoss`: an import for each name that stands in a cell now, and of whole modules."""
    for plain, alias in ((n, a) for n in tree.body if isinstance(n, ast.Import) for a in n.names):
        if (name := alias.asname or alias.name) in whole:
            yield Brought(cell.number, plain.lineno, name, f"import {_alias(alias)}")
    for node in from_imports([tree]):
        for alias in (a for a in node.names if (a.asname or a.name) in whole):
            yield Brought(
                cell.number, node.lineno, alias.asname or alias.name, f"from {node.module} import {_alias(alias)}"
            )
        if is_star(node) and node.module in parts:
            yield Brought(cell.number, node.lineno, "*", f"from {node.module} import *")
        for alias in (a for a in node.names if not node.level and inlined(node, a, "", parts)):
            text = f"from {node.module} import {_alias(alias)}"
            yield Brought(cell.number, node.lineno, alias.asname or alias.name, text)


def _lines(statement: ast.stmt) -> range:
    decorators = getattr(statement, "decorator_list", [])
    return range(min([statement.lineno, *(d.lineno for d in decorators)]), (statement.end_lineno or 0) + 1)


def _rewritten(text: str, imports: list[ast.ImportFrom], owner: str, parts: Parts) -> str:
    """Each import with what it still has to bring; of a module that is not read, by its full name."""
    lines = text.split("\n")
    for node in imports:
        left = [a for a in node.names if not _is_read(node, a, owner, parts)]
        name = full_name(node, owner, parts)
        if len(left) == len(node.names) and not (node.level and owner):
            continue
        texts = [f"from {name} import {', '.join(map(_alias, left))}"] if left else []
        renamed = [a for a in node.names if a not in left and a.asname not in (None, a.name)]
        _put(lines, node, "; ".join([*texts, *(f"{a.asname} = {a.name}" for a in renamed)]))
    return "\n".join(lines)


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name


def _is_read(node: ast.ImportFrom, alias: ast.alias, owner: str, parts: Parts) -> bool:
    return full_name(node, owner, parts) in parts if is_star(node) else inlined(node, alias, owner, parts)


def _put(lines: list[str], node: ast.ImportFrom, text: str) -> None:
    """In its place, on its first line; what else stands on its lines stays there."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    before = lines[first].encode()[: node.col_offset].decode()
    behind = lines[last].encode()[node.end_col_offset :].decode()
    lone = not before.strip() and (not behind.strip() or behind.lstrip().startswith("#"))
    lines[first] = before + (text or ("" if lone else "pass")) + (behind if first == last or not lone else "")
    lines[first + 1 : last + 1] = [""] * (last - first)
