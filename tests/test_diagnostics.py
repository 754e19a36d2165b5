"""Findings as values: their order, their text, and what a page gets."""

from __future__ import annotations

import pytest

from nbddp.diagnostics import CannotExport, Diagnostic, in_order
from nbddp.sentence import sentence

FULL = Diagnostic("loss", "warning", sentence("'%1' is bad", "x"), 3, 2, 5, help=sentence("mend it"),
                  why=sentence("ranks differ"), source="x = 1")  # fmt: skip


def test_the_house_form():
    assert FULL.render().split("\n") == [
        "warning[loss]: 'x' is bad", " --> cell 3:2", "  2 | x = 1", "why: ranks differ", "help: mend it"]  # fmt: skip


def test_what_has_no_place_has_no_line_for_it():
    assert Diagnostic("loss", "note", sentence("so")).render() == "note[loss]: so"


def test_each_once_by_place():
    later, earlier = (Diagnostic("a", "note", sentence("so"), cell) for cell in (2, 1))
    assert in_order([later, earlier, later]) == (earlier, later)


def test_a_page_gets_the_form_and_what_was_put_in():
    assert FULL.for_page()["words"] == {"message": ["'%1' is bad", "x"], "why": ["ranks differ"], "help": ["mend it"]}
    assert "why" not in Diagnostic("a", "note", sentence("so")).for_page()["words"]


def test_a_refusal_says_all_at_once():
    with pytest.raises(CannotExport, match=r"(?s)note\[a\].*warning\[loss\]") as caught:
        raise CannotExport([FULL, Diagnostic("a", "note", sentence("so"))])
    assert [d.rule for d in caught.value.diagnostics] == ["a", "loss"]
