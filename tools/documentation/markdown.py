"""Pieces of a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MEANT = re.compile(r"([\\*_{}\[\]<>#|$])")


def plain(text: str) -> str:
    """Text whose signs mean nothing to Markdown, but for what stands in backticks."""
    parts = text.split("`")
    return "`".join(part.replace("|", "\\|") if at % 2 else MEANT.sub(r"\\\1", part) for at, part in enumerate(parts))


def code(text: str) -> str:
    """Within a line or a cell of a table."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}".replace("|", "\\|")


def block(text: str, language: str = "text") -> str:
    """A fence that is longer than any in the text."""
    fence = "`" * max(3, *(len(found) + 1 for found in re.findall(r"`{3,}", text)), 3)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(' '.join(cell.split()) for cell in line)} |" for line in lines)


def contents(pages: Iterable[str]) -> str:
    """What the menu shows below this page."""
    return block("\n".join([":hidden:", "", *pages]), "{toctree}")


def together(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def page(title: str, *parts: str) -> str:
    return together([f"# {title}", *parts])
