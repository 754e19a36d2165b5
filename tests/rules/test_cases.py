"""Each rule does what its document says: all cases of all rules, exactly."""

from __future__ import annotations

from functools import cache

import pytest

from nbddp.rules import RULES
from tests.rules.case import Case, cases, files
from tests.rules.outcome import Outcome
from tests.rules.outcome import outcome as outcome_of

CASES = [case for file in files() for case in cases(file)]
NAMES = [rule.__name__.rpartition(".")[2] for rule in RULES]


@cache
def outcome(case: Case) -> Outcome:
    return outcome_of(case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}: {case.heading}")
def test_case(case):
    found = outcome(case)
    assert (found.script, found.diagnostics) == (case.script, case.diagnostics)


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
