"""The catalogue in the README says what the documents of the rules say."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from nbddp.rules import RULES

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def catalogue() -> dict[str, str]:
    """The text under each rule's name, in order."""
    _, _, text = README.partition("\n### ")
    return {
        name: rest.partition("\n## ")[0].strip() for name, _, rest in (p.partition("\n") for p in text.split("\n### "))
    }


def paragraphs(document: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in inspect.cleandoc(document).split("\n"):
        if line and not line.startswith(" "):
            found[line] = []
        elif line:
            found[next(reversed(found))].append(line.removeprefix("    "))
    return found


def test_every_rule_is_there_in_order():
    assert list(catalogue()) == [rule.NAME for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.NAME)
def test_the_text_is_that_of_the_rule(rule):
    document = paragraphs(rule.__doc__ or "")
    text, _, fence = catalogue()[rule.NAME].partition("\n\n```diff\n")
    diff = fence.removesuffix("\n```").split("\n")
    assert text == " ".join(document["What it does"])
    assert [line[2:] for line in diff if not line.startswith("+")] == document["Before"]
    assert [line[2:] for line in diff if not line.startswith("-")] == document["After"]
