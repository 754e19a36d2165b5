"""A rank's share of the batch size, and the sizes that are known when the processes start."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.loaders import around, sizes_at_start
from nbddp.options import Options
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, node, plan


@pytest.mark.parametrize(
    ("expression", "share"),
    [
        ("size", "size // world_size"),
        ("size + 1", "(size + 1) // world_size"),
        ("sizes[0]", "sizes[0] // world_size"),
    ],
)
def test_the_share_of_an_expression(expression, share):
    data = DATA.replace("DataLoader(train_set, batch_size=10,", f"DataLoader(train_set, batch_size={expression},")
    found = plan(IMPORTS, "size = 10\nsizes = [10]\n" + data, MODEL, TRAINING)
    opened, closed = around(found, node(found, ast.keyword, f"batch_size={expression}").value)
    assert opened + expression + closed == share


def test_a_part_of_a_product_keeps_its_brackets():
    found = plan(*BEFORE, "width = 10\nsteps = 3 * width\nprint(steps)", TRAINING + "print(steps)\n")
    opened, closed = around(found, node(found, ast.Name, "width"))
    assert opened + "width" + closed == "(width // world_size)"


def test_a_number_of_the_notebook_is_known_when_the_processes_start():
    assert sizes_at_start(plan(*BEFORE, TRAINING)) == (10,)


def test_a_parameter_is_known_by_its_name():
    data = DATA.replace("DataLoader(train_set, batch_size=10,", "DataLoader(train_set, batch_size=size,")
    found = plan(IMPORTS, '# %% tags=["parameters"]\nsize = 10', data, MODEL, TRAINING)
    assert sizes_at_start(found) == ("size",)


def test_nothing_is_split_where_each_process_has_batches_of_its_own():
    assert sizes_at_start(plan(*BEFORE, TRAINING, options=Options(batch_per_rank=True))) == ()
