"""Texts of the project that are pages of the site as they are; links among them lead to their pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXTS = {
    "docs/notebooks.md": "carried/notebooks",
    "docs/spellings.md": "carried/spellings",
    "tests/corpus/patterns.md": "carried/patterns",
    "ARCHITECTURE.md": "project/architecture",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changelog",
}


def pages() -> Iterator[tuple[str, str]]:
    for path, name in TEXTS.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        yield name, re.sub(r"\]\(([\w./-]+\.md)\)", lambda found: f"]({_page(path, found[1])})", text)  # noqa: B023


def _page(path: str, link: str) -> str:
    """The link of a text, from where that stands, as it is between the pages."""
    target = (ROOT / path).parent.joinpath(link).resolve().relative_to(ROOT).as_posix()
    return f"/{TEXTS[target]}.md"
