"""The import block: what the kept code names, and what the rules and parts add."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Mapping, Set

from nbddp.analysis.syntax import Statement, bindings, walk
from nbddp.script.import_comments import Comments, taken_apart
from nbddp.script.part_library import library

WIDTH = 88  # what ruff and isort take where nobody says anything


def used_names(nodes: Iterable[ast.AST]) -> set[str]:
    return {n.id for node in nodes for n in walk(node) if isinstance(n, ast.Name)}


Natural = tuple[tuple[int, str], ...]


def kept_imports(imports: Iterable[Statement], used: Set[str], comments: Mapping[int, Comments]) -> list[str]:
    """The notebook's imports, one line a module with its comments, names that nothing uses left out."""
    lines: list[str] = []
    for statement in imports:
        found = _kept(statement.node, used)
        lines += [comments[statement.index].around(found[0]), *found[1:]] if found else []
    return lines


def _kept(node: ast.stmt, used: Set[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [_import(a) for a in node.names if (a.asname or a.name.split(".")[0]) in used]
    assert isinstance(node, ast.ImportFrom)
    names = [a for a in node.names if a.name == "*" or (a.asname or a.name) in used]
    if node.module == "__future__":
        names = list(node.names)
    return [f"from {_base(node)} import {', '.join(_alias(a) for a in names)}"] if names else []


def _base(node: ast.ImportFrom) -> str:
    return "." * node.level + (node.module or "")


def _import(alias: ast.alias) -> str:
    """`import torch.nn as nn` as ruff would have it written."""
    base, _, last = alias.name.rpartition(".")
    return f"from {base} import {last}" if base and alias.asname == last else f"import {_alias(alias)}"


def _alias(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname and alias.asname != alias.name else alias.name


def import_block(lines: Iterable[str]) -> list[str]:
    """Merged and sorted; but what comes after `from helpers import *` hides what that brings, as in the notebook."""
    groups: list[list[str]] = [[]]
    for line in dict.fromkeys(lines):
        node = taken_apart(line)[0]
        if _brings_what_nobody_knows(node):
            groups += [[line], []]
        else:
            groups[0 if _base_of(node) == "__future__" else -1].append(line)
    blocks = [_sorted(group) for group in groups if group]
    return [line for i, block in enumerate(blocks) for line in ([""] if i else []) + block]


def _brings_what_nobody_knows(node: ast.Import | ast.ImportFrom) -> bool:
    root = _base_of(node).split(".")[0]
    return any(a.name == "*" for a in node.names) and root not in sys.stdlib_module_names | {"torch"}


def _base_of(node: ast.Import | ast.ImportFrom) -> str:
    return _base(node) if isinstance(node, ast.ImportFrom) else ""


def _sorted(lines: Iterable[str]) -> list[str]:
    """As isort and ruff do: standard library, packages, the notebook's own modules."""
    plain: dict[str, Comments] = {}
    names: dict[str, set[str]] = {}
    around: dict[str, Comments] = {}
    for line in lines:
        node, comments = taken_apart(line)
        if isinstance(node, ast.Import):
            for alias in node.names:
                _add(plain.setdefault(_alias(alias), Comments()), comments)
        else:
            names.setdefault(_base(node), set()).update(_alias(a) for a in node.names)
            _add(around.setdefault(_base(node), Comments()), comments)
    entries = [
        (_section(p.split(" ")[0]), 0, p.split(" as ")[0].lower(), c.around(f"import {p}")) for p, c in plain.items()
    ]
    for module, found in names.items():
        text = "\n".join(_from(module, found, around[module]))
        entries.append((_section(module), 1, module.lower(), text))
    return _sections(sorted(entries, key=lambda entry: entry[:3]))


def _add(to: Comments, more: Comments) -> None:
    to.above.extend(c for c in more.above if c not in to.above)
    to.behind.extend(c for c in more.behind if c not in to.behind)


def _sections(entries: list[tuple[int, int, str, str]]) -> list[str]:
    block: list[str] = []
    for i, (section, _, _, text) in enumerate(entries):
        if i and (section != entries[i - 1][0] or text.startswith("#")):
            block.append("")
        block += text.split("\n")
    return block


def _from(module: str, names: set[str], comments: Comments) -> list[str]:
    """Other names get a line of their own; comments go with the first line."""
    plain = sorted((n for n in names if " as " not in n), key=_order)
    groups = [["*"]] * ("*" in plain) + [[n for n in plain if n != "*"]] + [[n] for n in names if " as " in n]
    first, *others = sorted((g for g in groups if g), key=lambda g: (g[0] != "*", _order(g[0])))
    return [
        *comments.above,
        _import_from(module, first, comments.behind),
        *(_import_from(module, g, []) for g in others),
    ]


def _order(name: str) -> tuple[int, Natural, Natural]:
    """Constants, classes, functions."""
    word = name.split(" ", 1)[0]
    kind = 0 if word.isupper() and len(word) > 1 else 1 if word[0].isupper() else 2
    return kind, _natural(word.lower()), _natural(word)


def _natural(text: str) -> Natural:
    """So that `conv9` comes before `conv10`."""
    return tuple((int(part or 0), "") if i % 2 else (0, part) for i, part in enumerate(re.split(r"(\d+)", text)))


def _import_from(module: str, names: list[str], comments: list[str]) -> str:
    line = f"from {module} import "
    behind = "".join(f"  {c}" for c in comments)
    if names == ["*"] or len(line + ", ".join(names) + behind) <= WIDTH:
        return f"{line}{', '.join(names)}{behind}"
    return f"{line}({behind}\n" + "".join(f"    {n},\n" for n in names) + ")"


def _section(module: str) -> int:
    root = module.split(".", maxsplit=1)[0]
    if module.startswith("."):
        return 2
    if root == "__future__":
        return -1
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
