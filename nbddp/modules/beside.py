"""`from losses import TripletLoss`: the notebook with what of that file it needs, in a cell before all others.

So a module is followed as a cell is. Where the script must change nothing of it, it is imported as before.
A module stays unread, as one of a library is, where a name of its top level means something else to the notebook.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import replace

from nbddp.modules.attributes import attributes, imported, named, out_of_sight
from nbddp.modules.meanings import told_apart
from nbddp.modules.parts import Parts, brings_more, parts_of
from nbddp.modules.written import brought, module_cell, without_imports
from nbddp.notebook import Cell, Notebook, parse


def with_modules(notebook: Notebook, flat: Collection[str] = ()) -> Notebook:
    """The notebook as it is where it has no folder, or imports nothing from there.

    `flat` are names of modules of which the notebook shall read all by the names that these have in their cells.
    """
    if notebook.folder is None or not any("import" in c.code for c in notebook.cells):
        return notebook
    trees = {c: parse(c.code) for c in notebook.cells if _is_read(c)}
    read = tuple(trees.values())
    unread = out_of_sight(read)
    whole = [(module, names) for _, module, names in imported(read)]
    while parts := parts_of(notebook.folder, read, whole, unread):
        parts, hidden = told_apart(parts, read)
        hidden |= {name for name in parts if brings_more(parts, name)}
        if not hidden:
            break
        unread |= hidden
    if not parts:
        return notebook
    fields = attributes(parts, read)
    by_name = {name: found for name, found in fields.items() if name in flat}
    texts = {cell: named(cell.code, tree, by_name) for cell, tree in trees.items()}
    trees = {cell: parse(text) for cell, text in texts.items()} if by_name else trees
    cells = [replace(c, code=without_imports(texts[c], trees[c], parts)) if c in trees else c for c in notebook.cells]
    fields = {name: found for name, found in fields.items() if name not in by_name}
    imports = tuple(one for cell, tree in trees.items() for one in brought(cell, tree, parts, fields))
    return replace(notebook, cells=(*_cells(parts), *cells), brought=imports, attributes=fields)


def _is_read(cell: Cell) -> bool:
    return cell.kind == "code" and bool(cell.code.strip()) and not cell.error and cell.mark != "skip"


def _cells(parts: Parts) -> Iterator[Cell]:
    """Those that others need come first."""
    seen = set[str]()

    def placed(name: str) -> Iterator[Cell]:
        if name not in parts or name in seen:
            return
        seen.add(name)
        for node in (s for s in parts[name].statements if isinstance(s, ast.ImportFrom)):
            yield from placed(parts[name].module.named(node))
        yield module_cell(parts[name], parts)

    for name in parts:
        yield from placed(name)
