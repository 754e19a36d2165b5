"""What a training's outcome depends on, and the hash of it."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import inspect
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

WRITTEN_BY = re.compile(r"\bby nbddp \S+ \([0-9a-f]+\)")  # nbddp's version, and the script's fingerprint of itself
TRAINERS = ("torch", "accelerate", "lightning")  # whose versions count


@dataclass(frozen=True)
class Claim:
    """A training that these alone decide: what is not among them must not change its outcome."""

    name: str
    script: str
    nproc: int
    notebook: Path | None = None  # with the folder of its name beside it, where there is one
    harness: tuple[Path, ...] = ()  # files that run and judge it, and folders of such
    options: tuple[str | int | bool, ...] = ()

    def digest(self, judge: Callable[[], object]) -> str:
        """The same in every checkout, whatever its place and nbddp's version. The judge's own file is harness too."""
        beside = (self.notebook, self.notebook.with_suffix("")) if self.notebook else ()
        decisive = {
            "script": WRITTEN_BY.sub("by nbddp", self.script),
            "notebook": contents(path for path in beside if path == self.notebook or path.is_dir()),
            "harness": contents((*self.harness, Path(inspect.getfile(judge)))),
            "packages": versions(self.script),
            "nproc": self.nproc,
            "options": self.options,
        }
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:20]


def contents(paths: Iterable[Path]) -> list[tuple[str, str]]:
    """Name and hash of each file, and of each file of a folder by its place in there; in an order of their own."""
    found = set()
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(path)  # what has moved would otherwise no longer count
        top = path if path.is_dir() else path.parent
        files = path.rglob("*") if path.is_dir() else (path,)
        found |= {
            (file.relative_to(top).as_posix(), hashlib.sha256(file.read_bytes()).hexdigest())
            for file in files
            if file.is_file() and "__pycache__" not in file.parts
        }
    return sorted(found)


def versions(script: str) -> dict[str, str]:
    """Of torch, and of the frameworks that the script leaves its training to."""
    named = {"torch"}
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.Import):
            named |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            named.add(node.module.partition(".")[0])
    return {name: importlib.metadata.version(name) for name in TRAINERS if name in named}
