"""What the number that is the batch size means wherever it is read."""

from __future__ import annotations

from nbddp.analysis import Plan
from nbddp.options import Options
from tests.analysis.cells import DATA, IMPORTS, MODEL, batch, plan

NAMED = "batch_size = 10\n" + DATA.replace("batch_size=10", "batch_size=batch_size")


def made(*lines: str, options: Options | None = None) -> Plan:
    return plan(IMPORTS, NAMED, MODEL, batch(*lines), options=options)


def test_a_number_that_fixes_shapes_becomes_the_share():
    assert made("noise = torch.randn(batch_size, 8)").assumed.shares
    assert not made("steps = 100 // batch_size").assumed.shares


def test_nothing_is_shared_where_the_number_is_each_ranks():
    assert not made("noise = torch.randn(batch_size, 8)", options=Options(batch_per_rank=True)).assumed.shares
