"""Which names stand for loaders, though nothing of what makes them is run."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.reading.loaders_named import is_loader
from tests.analysis.cells import BEFORE, TRAINING, plan

MAKERS = """def one(size):
    return DataLoader(train_set, batch_size=size)
def named(size):
    made = DataLoader(train_set, batch_size=size)
    return made
def several(size):
    return size, DataLoader(train_set, batch_size=size)
def number(size):
    return size
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("other = DataLoader(train_set, batch_size=8)", True),
        ("first = DataLoader(train_set, batch_size=8)\nother = first", True),
        ("other = one(8)", True),
        ("other = named(8)", True),
        ("size, other = several(8)", True),
        ("other, loader = several(8)", False),
        ("other = number(8)", False),
        ("other = [1, 2]", False),
        ("other = unheard_of(8)", False),
    ],
)
def test_a_name_that_the_script_has_no_use_for(lines, expected):
    made = plan(*BEFORE, f"{MAKERS}{lines}\nlen(other)", TRAINING)
    name = next(n for n in made.program.nodes if isinstance(n, ast.Name) and n.id == "other")
    assert is_loader(made, name) == expected
