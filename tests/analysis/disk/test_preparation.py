"""What is done before the training, by one rank for all or by one before the others."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from tests.analysis.cells import BEFORE, MODEL, TRAINING, plan

NAMES = """
import os
import random
import urllib.request
import zipfile
from torchvision.datasets import MNIST
"""
DOWNLOAD = "urllib.request.urlretrieve('http://localhost/x', 'x')"


def made(cell: str, training: str = TRAINING) -> Plan:
    return plan(NAMES, *BEFORE, cell, training)


def prepared(of: Plan) -> tuple[list[str], list[str]]:
    def texts(found: frozenset[ast.stmt]) -> list[str]:
        return [of.program.source(s) for s in sorted(found, key=lambda s: s.lineno)]

    return texts(of.preparation.first), texts(of.preparation.alone)


@pytest.mark.parametrize("cell", [DOWNLOAD, "os.makedirs('out')", "zipfile.ZipFile('x').extractall('y')"])
def test_what_leaves_nothing_but_files_is_done_by_one(cell):
    assert prepared(made(cell)) == ([], [cell])


@pytest.mark.parametrize("cell", ["data = MNIST('.', download=True)\nlen(data)\nn = data", f"n = {DOWNLOAD}"])
def test_what_leaves_a_value_is_done_by_all_one_first(cell):
    of = made(cell, TRAINING.replace("range(3)", "range(len(n))"))
    assert prepared(of) == ([cell.split("\n")[0]], [])


@pytest.mark.parametrize(
    "cell", ["data = MNIST('.', download=False)\nn = data", "n = os.listdir('.')", "random.seed(0)\nn = [1]"]
)
def test_what_only_reads_needs_no_turns(cell):
    assert prepared(made(cell, TRAINING.replace("range(3)", "range(len(n))"))) == ([], [])


def test_a_function_that_fetches_is_done_where_it_is_called():
    cell = f"def fetch():\n    {DOWNLOAD}\n\nfetch()"
    of = made(cell)
    assert prepared(of) == ([], ["fetch()"])
    inner = next(n for n in ast.walk(of.program.tree) if isinstance(n, ast.Call) and ast.unparse(n) == DOWNLOAD)
    assert of.preparation.covers(of, inner)


def test_what_changes_the_process_is_done_by_each():
    cell = f"def fetch():\n    random.seed(1)\n    {DOWNLOAD}\n\nfetch()"
    assert prepared(made(cell)) == (["fetch()"], [])


def test_what_stands_in_the_training_or_after_it_is_no_preparation():
    inside = TRAINING.replace("loss.backward()", f"{DOWNLOAD}\n        loss.backward()")
    assert prepared(made("pass", inside)) == ([], [])
    assert prepared(made("pass", TRAINING + DOWNLOAD + "\n")) == ([], [])


def test_of_a_function_that_trains_only_the_fetching_is_done_by_one():
    inner = "".join(f"    {line}\n" for line in TRAINING.strip().split("\n"))
    of = made(f"def main():\n    {DOWNLOAD}\n{inner}", "main()")
    assert prepared(of) == ([], [DOWNLOAD])


def test_a_data_set_that_is_built_in_the_loaders_call_gets_a_statement_of_its_own():
    cell = "train_loader = DataLoader(MNIST('.', download=True), batch_size=10, shuffle=True)"
    of = plan(NAMES, BEFORE[0], MODEL, cell, TRAINING)
    assert [of.program.source(s) for s in of.preparation.moved] == [cell]
    assert not made("data = MNIST('.', download=True)").preparation.moved


def test_all_ranks_call_what_ddp_wraps_at_once():
    save = "def save(name):\n    torch.save(model(X[:4]), name)\n"
    of = plan(NAMES, *BEFORE, f"X = torch.rand(8, 8)\n{save}save('before')", TRAINING + "\n    save('after')")
    assert prepared(of) == ([], [])
