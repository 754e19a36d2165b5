"""Imports run downwards only, also the late ones inside functions. This list is the picture of ARCHITECTURE.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "nbddp"

# From the bottom up; what stands on one line knows nothing of each other.
LAYERS = (
    ("_version", "fingerprint", "options", "sentence"),
    ("diagnostics",),
    ("train_line",),
    ("notebook",),
    ("analysis",),
    ("rules",),
    ("script",),
    ("output", "export"),
    ("checking",),
    ("run",),
    ("widget",),
    ("verify", "inkernel"),
    ("exporter", "server", "cli"),
    ("magics",),  # the command line's verbs and options, in a kernel
    ("__init__", "__main__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
COMPILER = ("notebook", "analysis", "rules", "script", "export", "checking")
HEAVY = {"torch", "numpy", "IPython", "ipykernel", "ipywidgets", "anywidget", "nbconvert", "nbformat", "rich"}

# These are texts that get copied into scripts, not code of the compiler.
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "parts" not in path.relative_to(PACKAGE).parts)


def unit(path: Path) -> str:
    """The package or module right under nbddp that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}:{node.lineno}: import by the full name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def units_imported(path: Path) -> set[str]:
    """`from nbddp import __version__` counts as the whole package: everything is below that."""
    names = {name.split(".")[1] for name in imported(path) if name.startswith("nbddp.")}
    return {name if name in LEVEL else "__init__" for name in names}


def test_every_part_has_its_layer():
    assert {unit(path) for path in FILES} <= LEVEL.keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_downwards_only(path):
    above = {name for name in units_imported(path) - {unit(path)} if LEVEL[name] >= LEVEL[unit(path)]}
    if unit(path) in {"magics", "exporter", "server", "cli"}:
        above.discard("__init__")  # a front door may say which version it is
    assert not above


@pytest.mark.parametrize("path", [path for path in FILES if unit(path) in COMPILER], ids=lambda path: path.name)
def test_the_compiler_imports_nothing_heavy(path):
    assert not {name.split(".")[0] for name in imported(path)} & HEAVY


def test_no_rule_imports_another():
    from nbddp.rules import RULES

    rules = {rule.__name__ for rule in RULES}
    assert rules
    for rule in RULES:
        names = set(imported(Path(str(rule.__file__))))
        others = rules - {rule.__name__}
        assert not others & {name for each in names for name in (each, each.rpartition(".")[0])}, rule.__name__
