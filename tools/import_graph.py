"""Which package imports which, drawn as text, from the top down; with status 1 where there is a circle.

    python tools/import_graph.py            the parts of nbddp
    python tools/import_graph.py analysis   the packages inside one of them; `run` and `magics` as well
    python tools/import_graph.py analysis/loaders   the modules inside a package

Imports inside of functions and under TYPE_CHECKING count: they are imports.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Graph = Mapping[str, set[str]]  # who -> whom it imports


@cache
def modules() -> dict[str, Path]:
    """By their dotted names; not the parts, whose texts are copied into scripts."""
    top, found = ROOT / "nbddp", {}
    for path in sorted(top.rglob("*.py")):
        inside = path.relative_to(top)
        if "parts" not in inside.parts:
            found[".".join((top.name, *inside.with_suffix("").parts)).removesuffix(".__init__")] = path
    return found


@cache
def imports(path: Path) -> frozenset[str]:
    """The modules of nbddp that a file imports; a name that a package offers counts as the package."""
    return frozenset(_imports(ast.parse(path.read_text(encoding="utf-8"))))


def _imports(tree: ast.Module) -> Iterator[str]:
    known = modules()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in known else node.module for name in names)


def graph(inside: str) -> Graph:
    """Of what lies right inside a package: each module or package there, and which of its neighbours it imports."""
    prefix = f"{inside}."
    found: dict[str, set[str]] = {}
    for name, path in modules().items():
        if name.startswith(prefix):
            own = name.removeprefix(prefix).partition(".")[0]
            targets = (t.removeprefix(prefix).partition(".")[0] for t in imports(path) if t.startswith(prefix))
            found.setdefault(own, set()).update(t for t in targets if t != own)
    return found


def levels(arrows: Graph) -> list[list[str]]:
    """From the bottom up; raises CycleError where there is a circle."""
    sorter = TopologicalSorter(arrows)
    sorter.prepare()
    found = []
    while ready := sorted(sorter.get_ready()):
        found.append(ready)
        sorter.done(*ready)
    return found


def main(words: list[str]) -> int:
    inside = ".".join(["nbddp", *words[0].strip("/").split("/")] if words else ["nbddp"])
    arrows = graph(inside)
    try:
        found = levels(arrows)
    except CycleError as error:
        print("a circle:", " -> ".join(error.args[1]))
        return 1
    for level in reversed(found):
        for name in level:
            print(f"{name:24} -> {' '.join(sorted(arrows[name])) or '-'}")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
