"""Rows that a step writes out and keeps."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from nbddp.analysis.combining.rows import is_row, kept_whole, written_into
from nbddp.analysis.values import Machine
from tests.analysis.cells import BEFORE, batch, plan


class AsMachine:
    """A finished run, asked as the machine is while it runs."""

    def __init__(self, made: Any) -> None:
        self.program, self.facts = made.program, made.facts

    def held(self, value: Any) -> Any:
        return Machine.held(self, value)  # type: ignore[arg-type]

    def get(self, obj: Any, name: str) -> Any:
        return self.facts.fields.get((obj, name))


def row_of(*lines: str) -> tuple[Any, ast.Name]:
    made = plan(*BEFORE, "log = []\n\ndef pair(v):\n    return v.mean(), v[0]", batch(*lines))
    kept = [n for n in ast.walk(made.program.tree) if isinstance(n, ast.Call) and ast.unparse(n.func) == "log.append"]
    (given,) = kept[0].args
    assert isinstance(given, ast.Name)
    return AsMachine(made), given


def parts(*lines: str) -> list[str] | None:
    machine, row = row_of(*lines)
    found = written_into(machine, row)
    return None if found is None else [ast.unparse(n) for n in found]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["row = {'loss': loss.item()}", "log.append(row)"], ["{'loss': loss.item()}"]),
        (["row = {}", "row['loss'] = loss.item()", "log.append(row)"], ["loss.item()"]),
        (["row = {'n': 1}", "row['loss'] = loss.item()", "log.append(row)"], ["{'n': 1}", "loss.item()"]),
        (["row = [loss.item(), 1]", "log.append(row)", "print(row)"], ["[loss.item(), 1]"]),
        (["row = dict(loss=loss.item())", "log.append(row)"], ["dict(loss=loss.item())"]),
        (["row = (loss.item(), 1)", "log.append(row)"], ["(loss.item(), 1)"]),
    ],
)
def test_what_a_row_is_made_of(lines, found):
    assert parts(*lines) == found


@pytest.mark.parametrize(
    "lines",
    [
        ["row = {'loss': loss.item()}", "n = row['loss'] * 2", "log.append(row)"],
        ["row = {**{}, 'loss': loss.item()}", "log.append(row)"],
        ["row = {'loss': loss.item()}", "if epoch:", "    row['n'] = 1", "log.append(row)"],
        ["row = (loss.item(), 1)", "log.append(row)", "print(row)"],
        ["row = {}", "row = {'loss': loss.item()}", "log.append(row)"],
        ["row = {'loss': loss.item()}", "if epoch:", "    log.append(row)"],
    ],
)
def test_rows_that_somebody_reads_before_or_that_are_made_in_several_ways(lines):
    assert parts(*lines) is None


def test_a_row_of_means_that_goes_nowhere_else_may_be_combined_as_it_is():
    assert kept_whole(*row_of("row = pair(loss)", "log.append(row)"))
    assert not kept_whole(*row_of("row = pair(loss)", "log.append(row)", "print(row)"))
    assert not kept_whole(*row_of("row = pair(x)", "log.append(row)"))


def test_a_number_is_no_row():
    machine, name = row_of("row = loss.item()", "log.append(row)")
    assert not is_row(machine, name)
    assert is_row(*row_of("row = [loss.item()]", "log.append(row)"))
