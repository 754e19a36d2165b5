"""Losses that add a sum over the samples to something else."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.agreement import losses_scaled
from nbddp.analysis.agreement.loss_scaling import add_up, unlike_terms
from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, TRAINING, extent, plan

LOSS = "loss = F.cross_entropy(model(x), y)"
SUM = "(model(x) ** 2).sum()"


def made(loss: str) -> Plan:
    return plan(*BEFORE, TRAINING.replace(LOSS, f"loss = {loss}"))


def scaled(of: Plan) -> list[str]:
    return [of.program.source(node) for node in of.assumed.scaled]


@pytest.mark.parametrize("loss", [f"F.cross_entropy(model(x), y) + {SUM}", f"{SUM} + model.weight.norm()"])
def test_the_sum_is_scaled_and_counts_as_a_mean(loss):
    found = made(loss)
    assert scaled(found) == [SUM]
    assert extent(found, loss) is Extent.MEAN
    assert add_up(found)
    assert losses_scaled(found) is found.assumed


@pytest.mark.parametrize("loss", ["F.cross_entropy(model(x), y)", SUM, "F.mse_loss(model(x), y) + model(x).mean()"])
def test_a_loss_of_one_kind_is_left_alone(loss):
    assert scaled(made(loss)) == []
    assert not unlike_terms(made(loss))


def test_where_scaling_does_not_make_a_mean_it_stays_as_it_is():
    assert scaled(made(f"F.cross_entropy(model(x), y) + {SUM} + model(x).max()")) == []


def test_outside_of_losses_nothing_is_scaled():
    cell = TRAINING + f"        shown = loss.detach() + {SUM}\n"
    assert scaled(plan(*BEFORE, cell)) == []
