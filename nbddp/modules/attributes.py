"""`import losses as L`, `L.pairs(a, b)`: which of these stand in a cell now, and by which names."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from nbddp.analysis.syntax import walk
from nbddp.modules.parts import Parts, origin


def imported(trees: Sequence[ast.Module]) -> Iterator[tuple[str, str, set[str]]]:
    """Of each module that is imported whole: the name that it goes by, its own name, and what is read of it.

    Not where the name is ever anything else, or something of the module is changed.
    """
    nodes = [n for tree in trees for n in walk(tree)]
    fields = [n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)]
    for alias, module in (one for tree in trees for one in aliases(tree)):
        name = alias.asname or alias.name
        mine = [f for f in fields if isinstance(f.value, ast.Name) and f.value.id == name]
        read = all(isinstance(f.ctx, ast.Load) for f in mine)
        if read and "." not in name and not _is_more(name, module, nodes):
            yield name, module, {f.attr for f in mine}


def aliases(tree: ast.Module) -> Iterator[tuple[ast.alias, str]]:
    """`import losses as L`; `from package import losses`, where that is a module."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from ((alias, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level and node.names[0].name != "*":
            yield from ((alias, f"{node.module}.{alias.name}") for alias in node.names)


def out_of_sight(trees: Sequence[ast.Module]) -> set[str]:
    """Modules that are imported whole besides: `engine.device = "cuda"` changes what their functions read."""
    followed = {module for _, module, _ in imported(trees)}
    nodes = (n for tree in trees for n in walk(tree) if isinstance(n, ast.Import))
    whole = {a.name for n in nodes for a in n.names} | {module for tree in trees for _, module in aliases(tree)}
    return whole - followed


def _is_more(name: str, module: str, nodes: Collection[ast.AST]) -> bool:
    """`import model`, where a function calls what it is given `model`."""
    return any(_gives(node, name, module) for node in nodes)


def _gives(node: ast.AST, name: str, module: str) -> bool:
    match node:
        case ast.Name(id=found, ctx=ast.Store() | ast.Del()):
            return found == name
        case ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found) | ast.ClassDef(name=found):
            return found == name
        case ast.arg(arg=found):
            return found == name
        case ast.ImportFrom(names=names):
            return any((a.asname or a.name) == name and f"{node.module}.{a.name}" != module for a in names)
        case ast.Import(names=names):
            return any((a.asname or a.name) == name and a.name != module for a in names)
    return False


def named(code: str, tree: ast.Module, fields: Mapping[str, Mapping[str, str]]) -> str:
    """The code with the names by which these things stand in cells."""
    lines = code.split("\n")
    found = (n for n in walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name))
    for node in sorted(found, key=lambda n: (n.lineno, n.col_offset), reverse=True):
        assert isinstance(node.value, ast.Name)
        name = fields.get(node.value.id, {}).get(node.attr)
        if name is not None and node.lineno == node.end_lineno:
            row = lines[node.lineno - 1].encode()
            lines[node.lineno - 1] = (row[: node.col_offset] + name.encode() + row[node.end_col_offset :]).decode()
    return "\n".join(lines)


def attributes(parts: Parts, trees: Sequence[ast.Module]) -> Mapping[str, Mapping[str, str]]:
    """By the name that the module goes by: what is read of it, and the name that this has in its cell."""
    found = dict[str, dict[str, str]]()
    for name, module, read in imported(trees):
        package, _, last = module.rpartition(".")
        if package and origin(parts, package, last) is not None:
            continue  # what its package calls so
        places = {one: place for one in sorted(read) if (place := origin(parts, module, one)) is not None}
        if places:
            found[name] = {one: parts[place].renames.get(one, one) for one, place in places.items()}
    return found
