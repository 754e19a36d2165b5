"""The files of modules beside the notebook."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbddp.analysis.syntax import walk
from nbddp.analysis.values import is_foreign
from nbddp.notebook import parse

LARGEST = 500_000  # bytes; what is longer is data


@dataclass(frozen=True, eq=False)
class Module:
    """One file, as Python has it."""

    name: str  # "models.unet", as it is imported from the notebook's folder
    file: str  # "models/unet.py"
    text: str
    tree: ast.Module

    def named(self, node: ast.ImportFrom) -> str:
        """The full name of what one of its own imports is from: `from .layers import Block`."""
        if not node.level:
            return node.module or ""
        package = self.name.split(".")
        package = package if self.file.endswith("/__init__.py") else package[:-1]
        return ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])


def reached(folders: Sequence[Path], first: Iterable[str], beside: Path) -> dict[str, Module]:
    """The modules of those names that stand there, with what they import, and so on."""
    found, waiting = dict[str, Module](), [*first]
    while waiting:
        name = waiting.pop()
        if name not in found and (module := find(folders, name, beside)) is not None:
            found[name] = module
            waiting += imports_of(module)
    return found


def imports_of(module: Module) -> Iterator[str]:
    """`layers` and `layers.conv` of `from layers import conv`, which may be a module or a name in one."""
    for node in walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield module.named(node)
            yield from (f"{module.named(node)}.{alias.name}" for alias in node.names)


def find(folders: Sequence[Path], name: str, beside: Path) -> Module | None:
    """The module of that name, where its file stands in one of the folders and can be read."""
    if not name or name.partition(".")[0] in sys.stdlib_module_names or not is_foreign(f"{name}.*"):
        return None
    bases = [folder.joinpath(*name.split(".")) for folder in folders]
    places = (p for base in bases for p in (base / "__init__.py", base.with_name(f"{base.name}.py")))
    try:
        path = next((p for p in places if p.is_file()), None)
        if path is None or path.stat().st_size > LARGEST:
            return None
        text = path.read_text(encoding="utf-8-sig")
        return Module(name, Path(os.path.relpath(path, beside)).as_posix(), text, parse(text))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
