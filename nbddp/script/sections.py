"""The stretches of a script that no cell has written: its header, its imports, its helpers.

Told by the line map and by the headings `# ── … ──`, not by the names of what stands there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

Kind = Literal["header", "imports", "helpers"]
HEADING = re.compile(r"# ── (.+?) ─+$")


@dataclass(frozen=True)
class Section:
    kind: Kind
    title: str  # of helpers, what their heading says
    first: int  # line of the script, from 1
    last: int


@dataclass(frozen=True)
class _Block:
    """A statement of the script's top level, with the comments above it."""

    kind: Kind | None  # None: a cell's
    title: str
    first: int
    last: int


def sections(text: str, line_map: Sequence[object | None]) -> tuple[Section, ...]:
    """In the order of the script."""
    found = groupby(_blocks(text, line_map), key=lambda block: (block.kind, block.title))
    return tuple(_joined(kind, title, blocks) for (kind, title), blocks in found if kind is not None)


def _joined(kind: Kind, title: str, blocks: Iterable[_Block]) -> Section:
    first, *others = blocks
    return Section(kind, title, first.first, others[-1].last if others else first.last)


def _blocks(text: str, line_map: Sequence[object | None]) -> Iterator[_Block]:
    lines = text.split("\n")
    end, title = 0, ""
    for index, node in enumerate(ast.parse(text).body):
        above = range(end + 1, min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]))
        headings = [found[1] for at in above if (found := HEADING.match(lines[at - 1]))]
        first = next((at for at in above if lines[at - 1].strip()), above.stop)
        end = node.end_lineno or node.lineno
        kind = None if any(line_map[at - 1] is not None for at in range(first, end + 1)) else _kind(node, index)
        title = headings[-1] if headings else title if kind == "helpers" else ""
        yield _Block(kind, title if kind == "helpers" else "", first, end)


def _kind(node: ast.stmt, index: int) -> Kind:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return "imports"
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return "header" if is_text and index == 0 else "helpers"
