"""Imports run downwards only, also the late ones inside functions. These lists are the picture of ARCHITECTURE.md."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tools.import_graph import graph, levels

PACKAGE = Path(__file__).parents[1] / "nbddp"

# From the bottom up; what stands on one line knows nothing of each other.
LAYERS = (
    ("_version", "deep_stack", "documentation", "fingerprint", "options", "sentence", "uncollected", "watch_points"),
    ("diagnostics",),
    ("train_line",),
    ("notebook",),
    ("analysis",),
    ("edits", "modules"),
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
# Inside of the large ones, likewise.
INSIDE = {
    "analysis": (
        ("syntax",),
        ("library",),
        ("values",),
        ("slicing",),
        ("training", "evaluator"),
        ("combining",),
        ("reading",),
        ("loaders", "models", "splitting"),
        ("agreement", "state"),
        ("disk",),
        ("plan",),
    ),
    "run": (
        ("watching",),
        ("processes", "folder"),
        ("state",),
        ("log",),
        ("supervision",),
        ("start", "stop"),
        ("engines",),
        ("watch", "prune", "doctor"),
        ("run",),
        ("summaries",),
        ("terminal",),
        ("verbs", "keeping"),
    ),
    "magics": (("executed", "first_line", "handover"), ("runs",), ("commands",)),
}
PACKAGES = sorted((PACKAGE / "analysis").glob("*/__init__.py"))
MODULES_IN_A_PACKAGE = 13  # a list that is taken in at a glance; the evaluator and values have 12
COMPILER = ("notebook", "analysis", "modules", "edits", "rules", "script", "export", "checking")
HEAVY = {"torch", "numpy", "IPython", "ipykernel", "ipywidgets", "anywidget", "nbconvert", "nbformat", "rich"}

# These are texts that get copied into scripts, not code of the compiler.
FILES = sorted(path for path in PACKAGE.rglob("*.py") if "parts" not in path.relative_to(PACKAGE).parts)


def unit(path: Path) -> str:
    """The package or module right under nbddp that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def of(own: str) -> list[Path]:
    return [path for path in FILES if unit(path) == own]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
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


@pytest.mark.parametrize("own", sorted(LEVEL))
def test_imports_run_downwards_only(own):
    upwards = {(path, name) for path in of(own) for name in units_imported(path) if LEVEL[name] >= LEVEL[own]}
    door = own in {"magics", "exporter", "server", "cli"}  # a front door may say which version it is
    assert not {(path, name) for path, name in upwards if name != own and not (door and name == "__init__")}


@pytest.mark.parametrize("own", COMPILER)
def test_the_compiler_imports_nothing_heavy(own):
    assert not {(path, name) for path in of(own) for name in imported(path) if name.split(".")[0] in HEAVY}


def test_no_rule_imports_another():
    from nbddp.rules import RULES

    rules = {rule.__name__ for rule in RULES}
    assert rules
    for rule in RULES:
        names = set(imported(Path(str(rule.__file__))))
        others = rules - {rule.__name__}
        assert not others & {name for each in names for name in (each, each.rpartition(".")[0])}, rule.__name__


def level_inside(top: str, name: str) -> int:
    return next(level for level, names in enumerate(INSIDE[top]) if name in names)


@pytest.mark.parametrize("top", INSIDE)
def test_imports_run_downwards_inside_too(top):
    for name, others in graph(f"nbddp.{top}").items():
        above = {other for other in others if level_inside(top, other) >= level_inside(top, name)}
        assert not above, f"{top}/{name} imports {above}"


@pytest.mark.parametrize("package", [f"nbddp.{path.parent.name}" for path in sorted(PACKAGE.glob("*/__init__.py"))])
def test_no_circle_between_the_modules_of_a_package(package):
    levels(graph(package))  # which raises


@pytest.mark.parametrize("path", PACKAGES, ids=lambda path: path.parent.name)
def test_no_circle_inside_of_a_package_of_the_analysis(path):
    found = graph(f"nbddp.analysis.{path.parent.name}")
    levels(found)
    assert len(found) < MODULES_IN_A_PACKAGE


@pytest.mark.parametrize("path", [*PACKAGES, PACKAGE / "edits" / "__init__.py"], ids=lambda path: path.parent.name)
def test_a_package_says_what_it_takes_and_gives(path):
    title, blank, takes, gives, *rest = (ast.get_docstring(parsed(path)) or "").split("\n")
    assert title.endswith(".")
    assert (blank, rest) == ("", [])
    assert takes.startswith("Takes ")
    assert gives.startswith("Gives ")


def imports_of(path: Path) -> Iterator[tuple[ast.ImportFrom, list[ast.AST]]]:
    """Each `from … import …` with what stands around it."""
    todo: list[tuple[ast.AST, list[ast.AST]]] = [(parsed(path), [])]
    while todo:
        node, around = todo.pop()
        if isinstance(node, ast.ImportFrom):
            yield node, around
        todo.extend((child, [*around, node]) for child in ast.iter_child_nodes(node))


def test_the_analysis_imports_at_the_top_of_its_files():
    """Late imports and those for types only would hide a circle."""
    imports = [(path, *found) for path in of("analysis") for found in imports_of(path)]
    assert [(path, node.module) for path, node, around in imports if len(around) > 1] == []


@pytest.mark.parametrize("own", sorted(LEVEL))
def test_others_import_what_a_package_offers(own):
    """And not its modules: what they are called and how they share the work may change."""
    for path, node in ((at, node) for at in of(own) for node, _ in imports_of(at)):
        package, _, module = (node.module or "").rpartition(".")
        if package == "nbddp.edits" or package.startswith("nbddp.analysis."):
            home = PACKAGE.parent.joinpath(*package.split("."))
            assert home in path.parents, f"{path}:{node.lineno}: import it from {package}, not from {module}"


OFFERING = sorted([*(PACKAGE / "analysis").rglob("__init__.py"), PACKAGE / "edits" / "__init__.py"])


def offered(path: Path) -> set[str]:
    return {alias.asname or alias.name for node, _ in imports_of(path) for alias in node.names}


@cache
def wanted() -> frozenset[tuple[str, str]]:
    """Each name that is imported anywhere, with where it comes from."""
    tests = sorted((Path(__file__).parent / "analysis").rglob("*.py"))
    nodes = [node for path in [*FILES, *tests] for node, _ in imports_of(path)]
    return frozenset((node.module or "", alias.name) for node in nodes for alias in node.names)


@pytest.mark.parametrize("path", OFFERING, ids=lambda path: path.parent.name)
def test_what_a_package_imports_is_what_others_want_of_it(path):
    package = ".".join(path.parent.relative_to(PACKAGE.parent).parts)
    assert {name for name in offered(path) if (package, name) not in wanted()} == set()


def test_a_module_gives_only_what_it_defines():
    """Mypy lets packages hand on what they import; modules do not."""
    for path in (path for path in of("analysis") if path.name != "__init__.py"):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        assert {(module, name) for name in offered(path) if (module, name) in wanted()} == set()
