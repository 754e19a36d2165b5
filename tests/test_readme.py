"""The README is one screen, and all that it links to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_one_screen():
    assert len(README.split("\n")) <= 50


def test_it_has_the_picture_and_the_commands():
    assert README.count("![") == 1
    for command in ("make run", "make lab", "make docs", "make test"):
        assert command in README


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", README))
def test_a_link_leads_somewhere(link):
    assert (ROOT / link).is_file()
