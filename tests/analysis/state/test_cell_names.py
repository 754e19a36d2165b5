"""What the cells call a thing that a loop in a function calls by another name."""

from __future__ import annotations

import pytest

from nbddp.analysis.state import name_in_cells, passages
from tests.analysis.cells import DATA, IMPORTS, MODEL, TRAINING, plan

INNER = "".join(f"    {line}\n" for line in TRAINING.strip().split("\n")).replace("model(", "net(")
FIT = "def fit(net, log{default}):\n{before}" + INNER


def named(text: str, call: str, before: str = "", default: str = "", cell: str = "") -> str | None:
    made = plan(IMPORTS, DATA, MODEL, "history = []", FIT.format(before=before, default=default), f"{cell}{call}")
    (passage,) = passages(made)
    return name_in_cells(made, text, passage)


@pytest.mark.parametrize(
    ("text", "call", "name"),
    [
        ("net", "fit(model, history)", "model"),
        ("log", "fit(model, history)", "history"),
        ("log", "fit(model, log=history)", "history"),
        ("optimizer", "fit(model, history)", "optimizer"),
    ],
)
def test_the_name_at_the_call(text, call, name):
    assert named(text, call) == name


def test_at_the_top_level_it_is_its_own():
    made = plan(IMPORTS, DATA, MODEL, TRAINING)
    assert name_in_cells(made, "model", passages(made)[0]) == "model"


@pytest.mark.parametrize(
    ("text", "call", "before", "default", "cell"),
    [
        ("log", "fit(model, [])", "", "", ""),
        ("log", "fit(model)", "", "=()", ""),
        ("net", "fit(model, history)", "    net = nn.Linear(8, 2)\n", "", ""),
        ("log", "fit(model, history)", "    log.append(1)\n", "", ""),
        ("log", "fit(model, history)", "", "", "history = [1]\n"),
    ],
)
def test_where_it_is_not_sure_or_set_on_the_way_there_is_none(text, call, before, default, cell):
    assert named(text, call, before, default, cell) is None
