"""Saves that follow one another stand under one condition; what anybody else has written stays as it is."""

from __future__ import annotations

import pytest

from nbddp.script.apply import Line
from nbddp.script.guards import joined_guards

GUARD = "if rank == 0:"


def joined(*texts: str) -> list[str]:
    """Of lines that come from the notebook, but for the guards."""
    lines = [Line(text, None if text.strip() == GUARD else at) for at, text in enumerate(texts, 1)]
    return [line.text for line in joined_guards(lines)]


def test_one_guard_for_saves_that_follow_one_another():
    lines = [GUARD, "    save(a)", GUARD, "    save(b)", GUARD, "    save(", "        c)"]
    assert joined(*lines) == [GUARD, "    save(a)", "    save(b)", "    save(", "        c)"]


def test_at_any_depth():
    lines = ["for x in y:", f"    {GUARD}", "        save(a)", f"    {GUARD}", "        save(b)"]
    assert joined(*lines) == [*lines[:3], lines[4]]


@pytest.mark.parametrize("between", ["wait()", "# now the other", "", "for x in y:"])
def test_whatever_stands_between_ends_the_block(between):
    lines = [GUARD, "    save(a)", between, GUARD, "    save(b)"]
    assert joined(*lines) == lines


def test_in_another_block_it_is_another_guard():
    lines = ["for x in y:", f"    {GUARD}", "        save(a)", "for z in y:", f"    {GUARD}", "        save(b)"]
    assert joined(*lines) == lines


def test_what_the_notebook_says_twice_stays():
    lines = [Line("if a:", 1), Line("    b", 2), Line("if a:", 3), Line("    c", 4)]
    assert joined_guards(lines) == lines
