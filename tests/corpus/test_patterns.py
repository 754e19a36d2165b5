"""The table of patterns and traps names what exists, and all of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.rules.case import cases, files

HERE = Path(__file__).parent
E2E = HERE.parent / "e2e"
FOLDERS = ("notebooks", "refused", "frameworks")


def rows() -> list[list[str]]:
    """Pattern, what shows it, and what becomes of it; of each table without its head."""
    lines = (HERE / "patterns.md").read_text(encoding="utf-8").splitlines()
    cells = [[part.strip() for part in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in cells if row[0] != "in public notebooks" and set(row[0]) != {"-"}]


def named() -> set[str]:
    return {name for row in rows() for name in re.findall(r"`([^`]+)`", row[1])}


def existing() -> set[str]:
    notebooks = {f"{folder}/{p.stem}" for folder in FOLDERS for p in (E2E / folder).glob("*.py")}
    shown = {f"rules/{case.rule}: {case.heading}" for file in files() for case in cases(file)}
    return {name.removeprefix("notebooks/") for name in notebooks} | shown


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_row_says_what_shows_it_and_what_becomes_of_it(row: list[str]) -> None:
    assert len(row) == 3
    assert re.search("`.+`", row[1])
    assert row[2]


def test_what_is_named_exists() -> None:
    assert not named() - existing()


def test_every_notebook_has_its_place() -> None:
    notebooks = {name for name in existing() if not name.startswith("rules/")}
    assert not notebooks - named()
