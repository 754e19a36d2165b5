"""The documents of the rules: their headings, and that before and after are true."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

from nbddp.rules import RULES
from tests.rules.case import cases, files_of
from tests.rules.outcome import outcome

pytestmark = pytest.mark.xdist_group("rules")  # with those of test_cases.py: each case is compiled once
HEADINGS = ["What it does", "Why DDP needs it", "Before", "After", "Declines"]


def document(rule: ModuleType) -> dict[str, list[str]]:
    """The lines under each heading."""
    found: dict[str, list[str]] = {}
    for line in inspect.cleandoc(rule.__doc__ or "").split("\n"):
        if line and not line.startswith(" "):
            found[line] = []
        elif line:
            found[next(reversed(found))].append(line.removeprefix("    "))
    return found


def holds(text: str, lines: list[str]) -> bool:
    """Are the lines there, in this order and under the same indentation? `...` stands for others."""
    for start, first in enumerate(text.split("\n")):
        indent = first[: len(first) - len(first.lstrip())]
        wanted = iter([indent + line for line in lines if line.strip() != "..."])
        line = next(wanted)
        for candidate in text.split("\n")[start:]:
            if candidate == line:
                line = next(wanted, None)
            if line is None:
                return True
    return False


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.NAME)
def test_headings(rule):
    found = document(rule)
    assert list(found) == HEADINGS
    assert all(found.values())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.NAME)
def test_a_case_shows_before_and_after(rule):
    found = document(rule)
    files = files_of(rule.__name__.rpartition(".")[2])
    shown = [case for file in files for case in cases(file) if holds(case.own, found["Before"])]
    assert shown, "no case has what is said to be before"
    outcomes = [outcome(case) for case in shown]
    assert any(holds(o.whole + o.diagnostics, found["After"]) for o in outcomes)
