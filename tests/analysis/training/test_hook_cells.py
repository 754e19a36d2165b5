"""Cells of experts."""

from __future__ import annotations

import pytest

from nbddp.analysis.syntax import build_program
from nbddp.analysis.training import hook, in_hook, misused_hooks
from nbddp.notebook import notebook_from_percent

WRAP = "# %%\n#| ddp: wrap\ndef wrap(model, device):\n    return model\n# %%\nx = 1\n"


def program(text: str):
    return build_program(notebook_from_percent(text, "hooks.py"))


def test_the_last_definition_counts_and_only_in_a_cell_that_is_marked():
    found = program(f"# %%\ndef wrap(a, b):\n    return a\n{WRAP}")
    statement = hook(found, "wrap")
    assert statement is not None
    assert statement.cell.number == 2
    assert hook(found, "connect") is None
    assert [in_hook(found, s.node) for s in found.statements] == [False, True, False]
    assert list(misused_hooks(found)) == []


@pytest.mark.parametrize("head", ["def wrapped(model, device)", "def wrap()", "def wrap(model, device, more)"])
def test_one_that_cannot_be_called_so_is_refused(head):
    (said,) = misused_hooks(program(WRAP.replace("def wrap(model, device)", head)))
    assert said.level == "error"
    assert "wrap(model, device)" in said.message


def test_arguments_may_be_taken_in_any_way():
    assert list(misused_hooks(program(WRAP.replace("(model, device)", "(*both)")))) == []
