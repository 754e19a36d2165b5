"""What is read of the code is what the code does: every diagnostic that a case of a rule shows is found there."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from nbddp.rules import RULES
from tests.rules.case import cases, files
from tools.documentation.diagnosed import all_diagnosed, given_to, made_of
from tools.documentation.following import Module

FIRST_LINE = re.compile(r"^(error|warning|note)\[([\w-]+)\]: (.+)$", re.MULTILINE)
known = cache(all_diagnosed)


def shown() -> set[tuple[str, str, str]]:
    found = (FIRST_LINE.findall(case.diagnostics) for file in files() for case in cases(file))
    return {line for lines in found for line in lines}


def fits(form: str, message: str) -> bool:
    return re.fullmatch(re.sub(r"%[1-9]", "(?s:.+)", re.escape(form)), message) is not None


def test_every_one_that_a_case_shows_is_known_with_its_level():
    missing = [
        (level, name, message)
        for level, name, message in shown()
        if not any(one.name == name and level in one.levels and fits(one.message, message) for one in known())
    ]
    assert not missing


def test_every_one_has_a_level():
    assert [one for one in known() if not one.levels] == []


def test_names_of_rules_are_among_them_and_names_of_refusals():
    assert {"shard", "undefined", "training-cell"} <= {one.name for one in known()}
    assert {one.name for one in known()} & {rule.NAME for rule in RULES}


WRAPPED = """
RULE = "mine"

def bad(plan):
    if plan:
        advice = sentence("mend it") if plan.x else sentence("leave it")
        return at(sentence("%1 is bad", plan), advice)
    return at(sentence("none"), rule="other")

def at(message, help=NOTHING, rule=RULE):
    return Diagnostic(rule, "error", message, 1, 2, 3, help)
"""


@pytest.mark.parametrize(
    ("name", "message", "help_"),
    [("mine", "%1 is bad", ("mend it", "leave it")), ("other", "none", ())],
)
def test_arguments_are_followed_to_each_call(name, message, help_):
    module = Module(ast.parse(WRAPPED))
    found = [one for call in module.calls for given in given_to(module, call) for one in made_of(module, given, "")]
    assert [(one.message, one.help) for one in found if one.name == name] == [(message, help_)]
