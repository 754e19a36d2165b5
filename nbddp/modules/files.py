"""The files of modules beside the notebook."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path

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


def find(folder: Path, name: str) -> Module | None:
    """The module of that name, where its file stands in the folder and can be read."""
    if not name or name.partition(".")[0] in sys.stdlib_module_names or not is_foreign(f"{name}.*"):
        return None
    base = folder.joinpath(*name.split("."))
    path = next((p for p in (base / "__init__.py", base.with_name(f"{base.name}.py")) if p.is_file()), None)
    if path is None or path.stat().st_size > LARGEST:
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")
        return Module(name, path.relative_to(folder).as_posix(), text, parse(text))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None
