"""Rows and texts that go by a name to what keeps or shows them."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.combining.records import is_shown, is_text, is_written_out, written_with
from nbddp.analysis.combining.writes import uses
from tests.analysis.cells import BEFORE, batch, nodes, plan


def made(*lines: str) -> list[str] | None:
    found = plan(*BEFORE, batch(*lines))
    parts = written_with(uses(found.program, ast.walk(found.program.tree), "row"))
    return None if parts is None else [ast.unparse(part) for part in parts]


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        (["row = {'loss': loss.item()}"], ["{'loss': loss.item()}"]),
        (["row = {}", "row['loss'] = loss.item()"], ["loss.item()"]),
        (["row = {'n': 1}", "row['loss'] = loss.item()"], ["{'n': 1}", "loss.item()"]),
        (["row = dict(loss=loss.item())"], ["dict(loss=loss.item())"]),
        (["row = (loss.item(), 1)"], ["(loss.item(), 1)"]),
        (["row = f'{loss.item()}'"], ["f'{loss.item()}'"]),
        (["row = '%f' % loss.item()"], ["'%f' % loss.item()"]),
        (["row = '{}'.format(loss.item())"], ["'{}'.format(loss.item())"]),
    ],
)
def test_what_it_was_written_with(lines, parts):
    assert made(*lines) == parts


@pytest.mark.parametrize(
    "lines",
    [
        ["row = {**{}, 'loss': loss.item()}"],
        ["row = {}", "row = {'loss': loss.item()}"],
        ["row = loss.item()"],
        ["row = [*x]"],
        ["row = f'{loss.item()}'", "row += '!'"],
    ],
)
def test_what_comes_by_another_way(lines):
    assert made(*lines) is None


def test_texts_and_containers_are_told_apart():
    text, row = ast.parse("f'{x}'", mode="eval").body, ast.parse("{'x': x}", mode="eval").body
    assert (is_text(text), is_written_out(text)) == (True, False)
    assert (is_text(row), is_written_out(row)) == (False, True)


def shown(line: str) -> bool:
    found: Plan = plan(*BEFORE, "import wandb\nlog = []", batch("row = {'loss': loss.item()}", line))
    name = nodes(found, ast.Name, "row")[-1]
    return is_shown(found.program, found.facts, name)


@pytest.mark.parametrize("line", ["print(row)", "wandb.log(row)", "wandb.log(data=row)", "wandb.log({**row, 'n': 1})"])
def test_what_is_shown_as_it_is(line):
    assert shown(line)


@pytest.mark.parametrize("line", ["log.append(row)", "print(row['loss'])", "n = row", "print({'row': row})"])
def test_what_is_kept_or_taken_apart(line):
    assert not shown(line)
