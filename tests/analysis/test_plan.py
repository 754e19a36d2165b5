"""The plan: a notebook read as often as its decisions need, and each decision made once."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.values import Extent
from nbddp.diagnostics import CannotExport
from nbddp.options import Options
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, batch, extent, plan

NAMED = "batch_size = 10\n" + DATA.replace("batch_size=10", "batch_size=batch_size")
ATTRIBUTES = ("decisions", "epochs", "wrapping", "preparation", "writing", "sharding")


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_each_decision_is_made_once(name):
    made = plan(*BEFORE, TRAINING)
    assert getattr(made, name) is getattr(made, name)


def test_a_batch_size_that_fixes_shapes_is_read_as_the_share():
    made = plan(IMPORTS, NAMED, MODEL, batch("noise = torch.randn(batch_size, 8)"))
    assert made.assumed.shares
    assert extent(made, "batch_size") is Extent.SUM


def test_one_that_only_counts_is_read_as_it_is():
    made = plan(IMPORTS, NAMED, MODEL, batch("seen = epoch * batch_size"))
    assert not made.assumed.shares
    assert extent(made, "batch_size") is Extent.UNIFORM


def test_conditions_that_ranks_decide_together_count_as_agreed():
    made = plan(*BEFORE, "best, worse = 9.0, 0", batch("if loss.item() > best:", "    worse = 1", "    break"))
    assert {made.program.source(t) for t in made.assumed.agreed} == {"loss.item() > best"}
    assert extent(made, "worse") is Extent.UNIFORM
    assert not plan(*BEFORE, TRAINING).assumed.agreed


@pytest.mark.parametrize(
    ("line", "gpu"), [("model.cuda()", True), ("model.to(torch.device('cuda'))", True), ("model.to('cpu')", False)]
)
def test_whether_it_uses_a_gpu(line, gpu):
    assert plan(*BEFORE, line, TRAINING).uses_gpu is gpu


def test_where_a_framework_trains_nothing_of_the_loop_is_decided():
    cell = "import lightning as L\ntrainer = L.Trainer()\ntrainer.fit(model, train_loader)"
    made: Plan = plan(*BEFORE, cell)
    assert made.framework is not None
    assert made.uses_gpu
    assert not made.sharding.loaders


@pytest.mark.parametrize("cells", [(*BEFORE,), (*BEFORE, TRAINING, TRAINING)])
def test_without_a_training_or_with_several_there_is_no_plan(cells):
    with pytest.raises(CannotExport):
        plan(*cells)


def test_which_of_several_trains_can_be_chosen():
    assert plan(*BEFORE, TRAINING, TRAINING, options=Options(train=4)).training_cell == 4
    assert plan(*BEFORE, TRAINING, "%%ddp_train\n" + TRAINING.strip()).training_cell == 5
