"""What the pages tell to type: commands and first lines of cells that nbddp understands, and outputs that it gives."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbddp.cli import main
from nbddp.notebook.marks import MODES
from tools.documentation.reference import of_magic, of_verb

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").glob("*/*.md") if path.parent.name in (
    "guide", "how-to", "reference", "_parts")), *sorted((ROOT / "docs").glob("*.md"))]  # fmt: skip
COMMAND = re.compile(r"^(?:\$ )?nbddp ([a-z]+) ?(.*)$", re.MULTILINE)
FENCE = re.compile(r"^```[\w-]+\n((?:.*\n)*?)```$|^ {4}(.*)$", re.MULTILINE)
FIRST_LINE = re.compile(r"^%%(\w+)(?: +(.*))?$", re.MULTILINE)
MAKE = re.compile(r"(?:`| {4}|^)make ([a-z-]+)", re.MULTILINE)
SESSION = re.compile(r"^```console\n\$ nbddp (.+)\n((?:.*\n)*?)```$", re.MULTILINE)


def words(text: str) -> list[str]:
    return shlex.split(text, comments=True)


def code(page: Path) -> str:
    """What is to be typed: fences, and lines that are indented."""
    return "\n".join(fenced or line for fenced, line in FENCE.findall(page.read_text(encoding="utf-8")))


def told() -> Iterator[tuple[str, str, str]]:
    for page in PAGES:
        for verb, rest in COMMAND.findall(code(page)):
            yield page.name, verb, rest


@pytest.mark.parametrize(("page", "verb", "rest"), sorted(set(told())))
def test_a_command_is_understood(page, verb, rest):
    of_verb(verb).parse(words(rest))


def first_lines() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        yield from FIRST_LINE.findall(code(page))


@pytest.mark.parametrize(("name", "rest"), sorted(set(first_lines())))
def test_the_first_line_of_a_cell_is_understood(name, rest):
    assert name in MODES
    of_magic(name).parse(words(rest))


def sessions() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        yield from SESSION.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("command", "output"), list(sessions()))
def test_what_is_shown_is_what_comes(command, output, capsys, monkeypatch):
    """A line of `…` stands for others."""
    monkeypatch.chdir(ROOT)
    main(words(command))
    parts = [re.escape(part) for part in re.split(r"^ *…\n", output, flags=re.MULTILINE)]
    assert re.fullmatch(r"(?:.*\n)*?".join(parts), capsys.readouterr().out)


def test_targets_of_make_are_there():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for page in PAGES for name in MAKE.findall(page.read_text(encoding="utf-8"))}
    assert {"run", "lab", "docs", "bench"} <= named <= targets
