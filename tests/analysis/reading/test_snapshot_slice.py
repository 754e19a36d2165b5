"""The slice of a notebook that hands values over."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.reading import training_of
from nbddp.diagnostics import CannotExport
from nbddp.options import Options
from tests.analysis.cells import DATA, IMPORTS, MODEL, TRAINING, flow, plan

MAKE = "raw = torch.randn(100, 8)\nslow = raw * 2\nlabels = torch.randint(0, 2, (100,))"
DATA_OF_IT = DATA.replace("torch.randn(100, 8)", "slow").replace("torch.randint(0, 2, (100,))", "labels")


def made(*names: str, options: Options | None = None) -> Plan:
    return plan(IMPORTS, MAKE, DATA_OF_IT, MODEL, TRAINING, options=options or Options(snapshot=names))


def texts(of: Plan) -> list[str]:
    return [of.program.source(s.node) for s in of.kept]


def test_what_only_made_the_value_is_left_out():
    found = made("slow")
    assert found.handed_over == ("slow",)
    assert 'slow = from_snapshot("slow")' in texts(found)
    assert not {"raw = torch.randn(100, 8)", "slow = raw * 2"} & set(texts(found))
    assert "labels = torch.randint(0, 2, (100,))" in texts(found)


def test_without_names_nothing_is_handed_over():
    found = made(options=Options())
    assert found.handed_over == ()
    assert {"raw = torch.randn(100, 8)", "slow = raw * 2"} <= set(texts(found))


def test_a_name_that_the_training_does_not_need_is_told_and_not_handed_over():
    found = plan(IMPORTS, "unused = 3", DATA, MODEL, TRAINING, options=Options(snapshot=("unused",)))
    assert found.handed_over == ()
    assert [d.rule for d in found.found] == ["snapshot"]


def test_several_names():
    found = made("slow", "labels")
    assert found.handed_over == ("slow", "labels")


@pytest.mark.parametrize("name", ["nowhere", "model"])
def test_what_cannot_be_handed_over_is_refused(name):
    with pytest.raises(CannotExport):
        made(name)


def test_the_statements_of_a_cell():
    assert training_of(flow("a = 1\nb = 2", "c = 3"), 1) == {0, 1}
    assert training_of(flow("a = 1\nb = 2", "c = 3"), 3) == frozenset()
