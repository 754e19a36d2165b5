"""Names that mean one thing at the top level of a module, and another one in the notebook or in another module."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from nbddp.analysis.slicing import bound_names
from nbddp.analysis.syntax import BUILTINS, bindings, canonical, walk
from nbddp.modules.parts import Part, Parts, full_name, is_star, origin
from nbddp.modules.renaming import Fixed, renamed

Import = ast.Import | ast.ImportFrom
SCOPE = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
NOTEBOOK = ""
ITS_OWN = {"__file__", "__name__", "__package__", "__path__", "__spec__"}  # in a script they are the script's


def told_apart(parts: Parts, trees: Sequence[ast.Module]) -> tuple[Parts, set[str]]:
    """With other names for what only its module calls so; and the modules of which that cannot be had."""
    cells = [s for tree in trees for s in tree.body]
    known, asked = dict[str, str](), set[tuple[str, str]]()
    meant = {owner: [*_meanings(statements, owner, parts)] for owner, statements in _all(parts, cells)}
    for name, _, source in (one for found in meant.values() for one in found):
        asked |= {(source, name)} if source else set()
    starred = {p.module.named(s) for p in parts.values() for s in p.statements
               if isinstance(s, ast.ImportFrom) and is_star(s)}  # fmt: skip
    found, hidden = dict[str, Part](), set[str]()
    for owner, own in meant.items():
        clashes = {name for name, meaning, _ in own if known.setdefault(name, meaning) != meaning}
        if owner == NOTEBOOK:
            hidden |= {source for source, name in asked if name in clashes}
            continue
        names = {n: f"{n}_of_{owner.rpartition('.')[2]}" for n in clashes}
        part = parts[owner]
        by_others = owner in starred or any((owner, n) in asked for n in clashes)
        others = _reads(part, (BUILTINS & known.keys()) | ITS_OWN)
        if others or (clashes and (by_others or not _can_be(part, names))):
            hidden.add(owner)
        found[owner] = replace(part, renames=names)
    return found, hidden


def _reads(part: Part, names: Set[str]) -> bool:
    """`sum(losses)`, where a cell has `sum = 0`: in one script it would be that; `__file__`, of no `getLogger()`."""
    own = bound_names(part.module.tree.body)
    nodes = [n for s in part.statements for n in walk(s)]
    logged = {
        a for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "getLogger" for a in n.args
    }
    return any(isinstance(n, ast.Name) and n.id in names - own and n not in logged for n in nodes)


def _all(parts: Parts, cells: Sequence[ast.stmt]) -> Iterator[tuple[str, Sequence[ast.stmt]]]:
    yield NOTEBOOK, cells
    yield from ((name, part.statements) for name, part in parts.items())


def _can_be(part: Part, names: Mapping[str, str]) -> bool:
    try:
        renamed(part.module.text, part.statements, names)
    except Fixed:
        return False
    return True


def _meanings(statements: Sequence[ast.stmt], owner: str, parts: Parts) -> Iterator[tuple[str, str, str]]:
    """Each name that is bound, what an import brings or else whose it is, and the module that it is asked of."""
    for statement in statements:
        within = [] if isinstance(statement, SCOPE) else walk(statement)
        imported = [one for n in within if isinstance(n, Import) for one in _imported(n, owner, parts)]
        yield from imported
        yield from ((n, owner, "") for n in bound_names([statement]) - {name for name, _, _ in imported} - {"*"})


def _imported(node: Import, owner: str, parts: Parts) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, ast.Import):
        yield from ((name, f"import {meaning}", "") for name, meaning in bindings(node))
        return
    base = full_name(node, owner, parts)
    for alias in (a for a in node.names if a.name != "*"):
        name, source = alias.asname or alias.name, origin(parts, base, alias.name)
        if source is None:
            yield name, f"import {canonical(f'{base}.{alias.name}')}", ""
        else:
            yield name, _meaning(parts[source], alias.name) if name == alias.name else owner, source
            yield alias.name, _meaning(parts[source], alias.name), source


def _meaning(part: Part, name: str) -> str:
    """In the file where it stands: that of an import, or that it is its own."""
    for node in part.statements:
        for bound, meaning in bindings(node) if isinstance(node, Import) else ():
            if bound == name:
                return f"import {meaning}"
    return part.module.name
