"""Each rule does what its document says: all cases of all rules, exactly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from nbddp.rules import RULES
from tests.rules.case import cases, files
from tests.rules.outcome import outcome

pytestmark = pytest.mark.xdist_group("rules")  # in one process, so that each case is compiled once
CASES = [case for file in files() for case in cases(file)]
NAMES_OF_OTHERS = (
    "ddp_train",
    "train",
    "requires_grad",
    *"was never closed invalid syntax".split(),
)  # options, an attribute, Python's own words
NAMES = [rule.__name__.rpartition(".")[2] for rule in RULES]


@cache
def forms() -> frozenset[str]:
    with (Path(__file__).parents[2] / "labextension" / "messages.pot").open("rb") as file:
        return frozenset(message.id for message in read_po(file) if isinstance(message.id, str))


def untranslatable(words: object, notebook: str) -> Iterator[object]:
    """Forms that no translator gets, and text that is neither code of the notebook nor a name."""
    if isinstance(words, list):
        form, *values = words
        if form not in forms() or "%%" in form:  # which JupyterLab makes a single one
            yield form
        for value in values:
            yield from untranslatable(value, notebook)
    elif not set(re.findall(r"[^\W\d]\w*", str(words))) <= {*re.findall(r"\w+", notebook), *NAMES_OF_OTHERS}:
        yield words


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.heading}")
def test_case(case):
    """Script and diagnostics are as they stand in the document, which says why; and translators get each text."""
    found = outcome(case)
    assert (found.script, found.watched, found.diagnostics) == (case.script, case.watched, case.diagnostics)
    assert case.why.endswith((".", ":"))
    for text in (text for said in found.found for text in (said.message, said.why, said.help) if text):
        assert list(untranslatable(text.words, case.notebook)) == [], "not by `sentence` of a form for translators"


@pytest.mark.parametrize("rule", NAMES)
def test_each_rule_has_cases_of_its_own(rule):
    own = [case.heading for case in CASES if case.rule == rule]
    assert len(own) >= 5
    assert len(own) == len(set(own))


def test_each_file_belongs_to_a_rule():
    assert {case.rule for case in CASES} <= set(NAMES)


def test_at_least_a_third_of_the_cases_leave_the_notebook_alone():
    declining = [case for case in CASES if outcome(case).declines]
    assert len(declining) >= len(CASES) / 3
