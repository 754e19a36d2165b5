"""The import block: what the kept code names, and what the rules and parts add."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

from nbddp.analysis.imports import bindings
from nbddp.analysis.program import Statement
from nbddp.script.part_library import library


def used_names(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name)}


def kept_imports(imports: Iterable[Statement], used: set[str]) -> list[str]:
    """The notebook's imports, one line a module, names that nothing uses left out."""
    lines: list[str] = []
    for statement in imports:
        node = statement.node
        if isinstance(node, ast.Import):
            lines += [_import(a) for a in node.names if (a.asname or a.name.split(".")[0]) in used]
        elif isinstance(node, ast.ImportFrom):
            names = [a for a in node.names if a.name == "*" or (a.asname or a.name) in used]
            if node.module == "__future__":
                names = list(node.names)
            if names:
                base = "." * node.level + (node.module or "")
                lines.append(f"from {base} import {', '.join(_alias(a) for a in names)}")
    return lines


def _import(alias: ast.alias) -> str:
    """`import torch.nn as nn` as ruff would have it written."""
    base, _, last = alias.name.rpartition(".")
    return f"from {base} import {last}" if base and alias.asname == last else f"import {_alias(alias)}"


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname and alias.asname != alias.name else alias.name


def import_block(lines: Iterable[str]) -> list[str]:
    """Merged and sorted as isort and ruff do: standard library, packages, the notebook's own modules."""
    plain: set[str] = set()
    names: dict[str, set[str]] = {}
    for line in lines:
        node = ast.parse(line).body[0]
        if isinstance(node, ast.Import):
            plain.update(_alias(a) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            names.setdefault(base, set()).update(_alias(a) for a in node.names)
    future = names.pop("__future__", None)
    entries = [(_section(p.split(" ")[0]), 0, p.split(" as ")[0].lower(), f"import {p}") for p in plain]
    entries += [(_section(m), 1, m.lower(), line) for m, found in names.items() for line in _from(m, found)]
    block: list[str] = [f"from __future__ import {', '.join(sorted(future))}", ""] if future else []
    last = None
    for section, _, _, line in sorted(entries):
        if last is not None and section != last:
            block.append("")
        block += line.split("\n")
        last = section
    return block


def _from(module: str, names: set[str]) -> list[str]:
    if "*" in names:
        return [f"from {module} import *  # noqa: F403", *_from(module, names - {"*"})]
    if not names:
        return []
    found = sorted(names, key=lambda n: (not n.split(" ")[0].isupper(), not n[0].isupper(), n))
    line = f"from {module} import {', '.join(found)}"
    if len(line) <= 120:
        return [line]
    inner = "".join(f"    {n},\n" for n in found)
    return [f"from {module} import (\n{inner})"]


def _section(module: str) -> int:
    root = module.split(".", maxsplit=1)[0]
    if module.startswith("."):
        return 2
    return 0 if root in sys.stdlib_module_names else 1


def own_imports() -> dict[str, str]:
    """The names that the script's own parts import, and what they stand for."""
    return bound_by(library().imports.values())


def bound_by(lines: Iterable[str]) -> dict[str, str]:
    """The names that import lines bind, and what they stand for."""
    found: dict[str, str] = {}
    for line in lines:
        node = ast.parse(line).body[0]
        assert isinstance(node, ast.Import | ast.ImportFrom)
        found.update(bindings(node))
    return found
