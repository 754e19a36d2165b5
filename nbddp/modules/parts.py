"""What is needed of each module beside the notebook, and of the modules that these import."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbddp.analysis.slicing import backward_slice, bound_names, build_flow
from nbddp.analysis.syntax import asks_for_main, build_program, walk
from nbddp.modules.files import Module, find
from nbddp.modules.search_path import folders
from nbddp.notebook import Cell, Notebook

ALL = "*"
MOST = 40  # files; what is larger is a package


@dataclass(frozen=True, eq=False)
class Part:
    """Statements of a module's top level, in its order."""

    module: Module
    statements: tuple[ast.stmt, ...]
    renames: Mapping[str, str] = field(default_factory=dict)  # where the notebook calls something else so


Wanted = tuple[str, set[str]]  # a module, and names of it
Parts = Mapping[str, Part]  # by the name of the module


def parts_of(folder: Path, trees: Sequence[ast.Module], whole: Iterable[Wanted], unread: Collection[str]) -> Parts:
    """For what the notebook imports, by name or with a whole module; made again where more is wanted of one."""
    places = folders(folder, trees)
    modules = dict[str, Module | None]()
    wanted, found = dict[str, set[str]](), dict[str, Part]()
    asked = [*whole, *((n.module or "", names_from(n, trees)) for n in from_imports(trees) if not n.level)]
    while asked:
        name, names = asked.pop()
        if name not in modules:
            modules[name] = find(places, name, folder) if name not in unread and len(modules) < MOST else None
        module = modules[name]
        names = names if module is None or ALL not in names else _brought_by_star(module, names - {ALL})
        if module is None or names <= wanted.get(name, set()):
            continue
        wanted[name] = names | wanted.get(name, set())
        own = wanted[name] & bound_names(module.tree.body)
        found[name] = part = _part(module, own)
        others = wanted[name] - own
        asked += [(module.named(n), names_from(n, part.statements) | (others if is_star(n) else set()))
                  for n in from_imports([ast.Module([*part.statements], [])])]  # fmt: skip
    return found


def from_imports(trees: Iterable[ast.Module]) -> Iterator[ast.ImportFrom]:
    return (n for tree in trees for n in tree.body if isinstance(n, ast.ImportFrom))


def names_from(node: ast.ImportFrom, nodes: Iterable[ast.AST]) -> set[str]:
    """What it asks for, as the module has it; of all that `*` brings, what the nodes mention, and that it is so."""
    if is_star(node):
        return {ALL} | {n.id for one in nodes for n in walk(one) if isinstance(n, ast.Name) and n.id[:1] != "_"}
    return {a.name for a in node.names}


def _brought_by_star(module: Module, names: set[str]) -> set[str]:
    for node in module.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=given) | ast.Tuple(elts=given)):
                return names & {n.value for n in given if isinstance(n, ast.Constant)}
    return names


def brings_more(parts: Parts, name: str, seen: Collection[str] = ()) -> bool:
    """`from torch.nn import *`: what its names mean, nobody knows here; in a cell they might mean the notebook's."""
    if name in seen:
        return False
    if name not in parts:
        return True
    stars = (n for n in from_imports([parts[name].module.tree]) if is_star(n))
    return any(brings_more(parts, full_name(n, name, parts), (*seen, name)) for n in stars)


def is_star(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.names[0].name == "*"


def origin(parts: Parts, name: str, wanted: str, seen: Collection[str] = ()) -> str | None:
    """The module in whose file a name stands that can be imported from this one; None where that is not read."""
    if name not in parts or name in seen:
        return None
    for node in reversed(parts[name].statements):
        if isinstance(node, ast.ImportFrom) and any(_brings(alias, wanted) for alias in node.names):
            if (base := full_name(node, name, parts)) == name:  # `from . import flows`: a module of its package
                return None
            found = origin(parts, base, wanted, (*seen, name))
            if found or not is_star(node):
                return found or name
        elif wanted in bound_names([node]):
            return name
    return None


def _brings(alias: ast.alias, wanted: str) -> bool:
    return alias.name == "*" or alias.name == (alias.asname or alias.name) == wanted


def full_name(node: ast.ImportFrom, owner: str, parts: Parts) -> str:
    """Of what it is from; the owner is the module that it stands in, none for the notebook."""
    return parts[owner].module.named(node) if owner else "." * node.level + (node.module or "")


def inlined(node: ast.ImportFrom, alias: ast.alias, owner: str, parts: Parts) -> bool:
    """Does what it brings stand in a cell?"""
    return origin(parts, full_name(node, owner, parts), alias.name) is not None


def _part(module: Module, names: Iterable[str]) -> Part:
    """The statements that give the names, and those that these need; what runs only as a program is none of them."""
    lines = module.text.split("\n")
    programs = [n for n in module.tree.body if isinstance(n, ast.If) and asks_for_main(n.test)]
    for node in programs:
        end = node.end_lineno or node.lineno
        lines[node.lineno - 1 : end] = [""] * (end - node.lineno + 1)
    texts = "\n".join(lines), f"_ = [{', '.join(sorted(names))}]"
    cells = (Cell(number, "code", text, text) for number, text in enumerate(texts, 1))
    flow = build_flow(build_program(Notebook(module.file, tuple(cells))))
    asked = len(flow.program.statements) - 1
    kept = {flow.program.statements[i].node.lineno for i in backward_slice(flow, frozenset({asked})).kept if i < asked}
    return Part(module, tuple(n for n in module.tree.body if n.lineno in kept and n not in programs))
