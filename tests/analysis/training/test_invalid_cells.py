"""What is reported of cells that are not valid Python, and what of their consequences."""

from __future__ import annotations

import pytest

from nbddp.checking import check
from nbddp.notebook import notebook_from_json
from tests.server.notebooks import CELLS, DATA, IMPORTS, MODEL, SHOW, TRAIN, notebook

BROKEN = "\nprint("


def found(*sources: str, tags: dict[int, str] | None = None) -> list[tuple[str, str, int, int]]:
    report = check(notebook_from_json(notebook(*sources, tags=tags), "x.ipynb"))
    return [(one.rule, one.level, one.cell, one.line) for one in report.diagnostics]


@pytest.mark.parametrize(
    ("sources", "cell", "line"),
    [
        ((IMPORTS + BROKEN, DATA, MODEL, TRAIN), 1, 4),
        ((IMPORTS, DATA + BROKEN, MODEL, TRAIN), 2, 4),
        ((IMPORTS, DATA, MODEL + BROKEN, TRAIN), 3, 3),
        ((IMPORTS, DATA, MODEL, TRAIN + BROKEN), 4, 7),
        ((IMPORTS, DATA, MODEL, f"%%ddp_train\n{TRAIN}{BROKEN}"), 4, 8),
    ],
)
def test_it_is_the_only_error_wherever_it_stands(sources, cell, line):
    assert found(*sources) == [("syntax", "error", cell, line)]


def test_two_of_them_are_two_errors():
    said = found(IMPORTS + BROKEN, DATA + BROKEN, MODEL, TRAIN)
    assert said == [("syntax", "error", 1, 4), ("syntax", "error", 2, 4)]


def test_a_definition_of_which_the_loop_is_made():
    step = "def step(x, y):\n    (model(x) - y).square().mean().backward()\n    optimizer.step("
    assert found(IMPORTS, DATA, MODEL, step, "for x, y in loader:\n    step(x, y)") == [("syntax", "error", 4, 3)]


def test_one_that_nothing_needs_is_left_out_and_said():
    assert found(*CELLS[:3], "print(", TRAIN) == [("syntax", "warning", 4, 1)]
    assert found(*CELLS[:4], "print(") == [("syntax", "note", 5, 1)]


def test_a_later_one_that_may_train_as_well():
    assert found(*CELLS[:4], TRAIN + BROKEN) == [("syntax", "warning", 5, 7)]


def test_a_later_one_is_the_cause_of_nothing():
    rules = [(one[0], one[2]) for one in found(IMPORTS, DATA, TRAIN, "print(")]
    assert ("undefined", 3) in rules
    assert rules[-1] == ("syntax", 4)


def test_one_that_is_to_be_kept_cannot_be():
    assert found(*CELLS[:3], "print(", TRAIN, tags={4: "ddp-setup"}) == [("syntax", "error", 4, 1)]


def test_one_that_is_marked_to_be_left_out_is_no_matter():
    assert found(*CELLS[:3], "print(", TRAIN, tags={4: "ddp-skip"}) == []


def test_a_notebook_that_has_nothing_to_do_with_training_is_told_so():
    assert [one[0] for one in found("import csv", "print(")] == ["training-cell"]
    assert [one[:3] for one in found(IMPORTS, SHOW + "(")] == [("syntax", "error", 2)]


def test_what_a_snapshot_lacks_may_be_in_it():
    cell = f"%%ddp_train --snapshot model\n{TRAIN}"
    assert found(IMPORTS, DATA, MODEL + BROKEN, cell) == [("syntax", "error", 3, 3)]
