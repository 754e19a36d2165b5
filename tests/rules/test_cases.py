"""Each rule does what its document says: all cases of all rules, exactly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from nbddp.rules import RULES
from tests.rules.case import Case, cases, files
from tests.rules.outcome import Outcome
from tests.rules.outcome import outcome as outcome_of

CASES = [case for file in files() for case in cases(file)]
NAMES_OF_OTHERS = (
    "ddp_train",
    "train",
    "requires_grad",
    *"was never closed".split(),
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


@cache
def outcome(case: Case) -> Outcome:
    return outcome_of(case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.heading}")
def test_case(case):
    found = outcome(case)
    assert (found.script, found.diagnostics) == (case.script, case.diagnostics)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.heading}")
def test_what_is_said_of_a_case_can_be_translated(case):
    """Each text is made by `sentence` of a form that translators get; what is put in is the notebook's own."""
    for found in outcome(case).found:
        for text in (found.message, found.why, found.help):
            if text:
                assert list(untranslatable(text.words, case.notebook)) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.heading}")
def test_a_case_says_why(case):
    assert case.why.endswith((".", ":"))


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
