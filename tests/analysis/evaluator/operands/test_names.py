"""Literals and names."""

from __future__ import annotations

import ast

from tests.analysis.cells import BEFORE, batch, node, plan


def test_an_unknown_name_is_noted_and_a_known_one_is_not():
    made = plan(*BEFORE, batch("n = nowhere + epoch"))
    assert list(made.facts.undefined) == ["nowhere"]


def test_a_name_of_a_star_import_is_that_of_the_library():
    made = plan(*BEFORE, "from torch.nn import *", batch("n = Linear(2, 2)"))
    assert {o.kind for o in made.facts.value(node(made, ast.Call, "Linear(2, 2)")).objs} == {"model"}
    assert not made.facts.undefined


def test_none_is_told_from_what_is_not_known():
    made = plan(*BEFORE, batch("n = None", "m = epoch"))
    assert made.facts.value(node(made, ast.Constant, "None")).const is not None
    assert made.facts.value(node(made, ast.Name, "epoch")).const is None
