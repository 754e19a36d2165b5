"""What the site shows of the code and its tests, written as pages of Markdown below docs/ when the site is built."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools.documentation import classes, example_pages, message_pages, reference, rule_pages, texts

MADE = ("_made", "carried", "examples", "messages", "project", "rules")  # folders of which nothing is written by hand


def made() -> Iterator[tuple[str, str]]:
    """Path below docs/ and text of each file."""
    for module in (texts, rule_pages, message_pages, reference, classes, example_pages):
        yield from ((f"{name}.md", text) for name, text in module.pages())
    yield from example_pages.notebooks()


def write(folder: Path) -> None:
    """All of them, and nothing of what was there before; a file that is the same is left alone, and not read again."""
    files = {folder / name: text for name, text in made()}
    for old in (path for name in MADE for path in (folder / name).rglob("*") if path.is_file()):
        if old not in files and old.suffix in (".md", ".ipynb"):
            old.unlink()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
