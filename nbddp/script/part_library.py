"""The parts as text: what each is called and what it names. They are read, and never imported."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from nbddp.script.names import names_in, words_of

FOLDER = Path(__file__).parent / "parts"
SECTIONS = {  # title -> files, in the order in which a script shows them
    "what several processes need": (
        "ddp",
        "sharding",
        "batches",
        "drawing",
        "joining",
        "evaluation",
        "loaders",
        "reduction",
        "gradients",
        "exchange",
        "silent",
        "saving",
        "frameworks",
        "checkpoints",
    ),
    "what the notebook hands over": ("snapshot",),
    "the processes": ("process",),
}
OF_THE_LAUNCHER = (  # which is no file of parts
    "import argparse",
    "import gc",
    "import signal",
    "import socket",
    "import subprocess",
    "import torch.multiprocessing as mp",
    "from contextlib import nullcontext",
    "import sys",
    "from contextlib import redirect_stderr",
)
ON_REQUEST = {  # methods that few scripts need
    "DDP": frozenset({"__len__", "__getitem__", "__iter__", "__contains__", "__dir__", "__getattribute__"}),
    "DDP__plain": frozenset({"state_dict", "load_state_dict"}),
}


@dataclass(frozen=True)
class Library:
    parts: Mapping[str, str]  # name -> source, in script order
    sections: Mapping[str, str]  # name -> title
    imports: Mapping[str, str]  # name -> import line that binds it


@functools.cache
def library() -> Library:
    parts: dict[str, str] = {}
    sections: dict[str, str] = {}
    imports: dict[str, str] = {}
    for title, file in ((title, file) for title, files in SECTIONS.items() for file in files):
        text = (FOLDER / f"{file}.py").read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            imports.update(_imported(node))
            parts.update((name, _source(text, node)) for name in _defined(node))
            sections.update((name, title) for name in _defined(node))
    for line in OF_THE_LAUNCHER:
        imports.update(_imported(ast.parse(line).body[0]))
    return Library(parts, sections, imports)


def _imported(node: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.asname or alias.name, ast.unparse(ast.Import([alias]))
    elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("nbddp"):
        for alias in node.names:
            yield alias.asname or alias.name, ast.unparse(ast.ImportFrom(node.module, [alias], 0))


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        yield node.targets[0].id


def _source(text: str, node: ast.stmt) -> str:
    """The lines of a definition, decorators included; of an assignment with the comment at its end."""
    return "\n".join(text.split("\n")[_first_line(node) - 1 : node.end_lineno])


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def without_methods(source: str, names: Set[str]) -> str:
    """The source of a class, some of its methods left out with the blank lines above them."""
    (definition,) = ast.parse(source).body
    lines: list[str | None] = list(source.split("\n"))
    for node in definition.body if isinstance(definition, ast.ClassDef) else []:
        if not names.isdisjoint(_defined(node)):
            first = _first_line(node) - 1
            while not (lines[first - 1] or "").strip():
                first -= 1
            lines[first : node.end_lineno] = [None] * ((node.end_lineno or node.lineno) - first)
    return "\n".join(line for line in lines if line is not None)


def read_ahead() -> None:
    """What takes its time once in a process, for whoever has time before the first script is wanted."""
    for source in library().parts.values():
        names_in(source)
        words_of(source)
