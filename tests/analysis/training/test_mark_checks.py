from __future__ import annotations

import pytest

from nbddp.analysis.training.mark_checks import misspelt
from nbddp.checking import check
from nbddp.notebook import Notebook, cell_from_source


def found(source: str, *tags: str) -> list[tuple[str, str, str]]:
    notebook = Notebook("x.ipynb", (cell_from_source("a = 1"), cell_from_source(source, 2, tags=tags)))
    return [(d.level, d.message, d.help) for d in misspelt(notebook)]


def test_a_misspelt_line_is_an_error_for_it_asks_for_something_that_is_not_done():
    [(level, message, advice)] = found("#| ddp: trian\nf()")
    assert (level, advice) == ("error", "did you mean '#| ddp: train'?")
    assert "nbddp does not know the mark '#| ddp: trian'" in message


def test_a_tag_may_be_somebody_elses():
    assert [(level, advice) for level, _, advice in found("f()", "ddp-trian")] == [
        ("warning", "did you mean 'ddp-train'?")
    ]
    assert found("f()", "slow", "ddp-train") == []


def test_marks_that_contradict_each_other():
    [(level, message, _)] = found("%%ddp_train\nf()", "ddp-skip")
    assert (level, message) == ("error", "the cell has 2 different marks: train, skip")


@pytest.mark.parametrize("source", ["a = 1", "for _ in range(3):\n    for x in loader:\n        step()"])
def test_they_are_told_also_where_no_cell_trains(source):
    notebook = Notebook("x.ipynb", (cell_from_source(f"#| ddp: trian\n{source}", 1),))
    assert "marks" in {found.rule for found in check(notebook).diagnostics}
