"""Dictionaries and texts that are written, shown and go nowhere else."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.agreement.shown_records import always_displayed, displayed
from tests.analysis.cells import BEFORE, batch, plan

NAMES = "import wandb\nfrom tqdm import tqdm\nbar = tqdm(range(3))\nkept = []\n"


def shown(*lines: str, before: str = "") -> str | None:
    made = plan(*BEFORE, NAMES, before or "pass", batch(*lines))
    calls = [n for n in ast.walk(made.program.tree) if isinstance(n, ast.Call) and any(
        isinstance(a, ast.Name) and a.id == "row" for a in [*n.args, *(k.value for k in n.keywords)])]  # fmt: skip
    call = max(calls, key=lambda c: c.lineno)
    name = next(n for n in ast.walk(call) if isinstance(n, ast.Name) and n.id == "row")
    found = displayed(made, call, name)
    assert (found is not None) is always_displayed(made, name)
    return None if found is None else ast.unparse(found)


@pytest.mark.parametrize(
    ("lines", "record"),
    [
        (["row = {'loss': loss.item()}", "wandb.log(row)"], "{'loss': loss.item()}"),
        (["row = {'loss': loss.item()}", "print(row)", "wandb.log(row)"], "{'loss': loss.item()}"),
        (["row = {'loss': loss.item()}", "bar.set_postfix(**row)"], "{'loss': loss.item()}"),
        (["row = f'{loss.item()}'", "print(row)"], "f'{loss.item()}'"),
        (["row = '%f' % loss.item()", "print(row)"], "'%f' % loss.item()"),
        (["row = '{}'.format(loss.item())", "print(row)"], "'{}'.format(loss.item())"),
    ],
)
def test_the_record_that_is_shown(lines, record):
    assert shown(*lines) == record


@pytest.mark.parametrize(
    "lines",
    [
        ["row = {'loss': loss.item()}", "kept.append(row)", "wandb.log(row)"],
        ["row = {'loss': loss.item()}", "n = row['loss']", "wandb.log(row)"],
        ["row = {}", "row['loss'] = loss.item()", "wandb.log(row)"],
        ["row = {**{}, 'loss': loss.item()}", "wandb.log(row)"],
        ["row = f'{loss.item()}'", "row = row + '!'", "print(row)"],
        ["row = loss.item()", "print(row)"],
        ["if x.max() > 1:", "    row = f'{loss.item()}'", "print(row)"],
    ],
)
def test_what_goes_elsewhere_too_is_none(lines):
    assert shown(*lines, before="row = ''" if lines[0].startswith("if") else "") is None
