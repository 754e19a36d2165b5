"""Where a number of one rank's share gets out."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.agreement import as_a_whole, outlets
from nbddp.analysis.values import Extent, Value
from tests.analysis.cells import BEFORE, batch, evaluation, plan

NAMES = """
import logging
from torch.optim.lr_scheduler import ReduceLROnPlateau
scheduler = ReduceLROnPlateau(optimizer)
log = []
"""


def found(made: Plan) -> list[tuple[str, bool, bool]]:
    return [(made.program.source(o.node), o.safe, o.decides) for o in outlets(made)]


def let_out(*lines: str) -> list[str]:
    return [source for source, _, _ in found(plan(*BEFORE, NAMES, batch(*lines)))]


@pytest.mark.parametrize(
    ("line", "sources"),
    [
        ("print(loss.item())", ["loss.item()"]),
        ("print(epoch, loss.item(), len(x))", ["loss.item()", "len(x)"]),
        ("print(f'{epoch} {loss.item():.3f}')", ["loss.item()"]),
        ("print('%d %f' % (epoch, loss.item()))", ["loss.item()"]),
        ("print('{}'.format(loss))", ["loss"]),
        ("print(round(loss.item(), 3))", ["loss.item()"]),
        ("print({'loss': loss.item()})", ["loss.item()"]),
        ("logging.info('%f', loss.item())", ["loss.item()"]),
        ("print(x.max().item())", ["x.max().item()"]),
        ("torch.save(loss, 'loss.pt')", ["loss"]),
        ("scheduler.step(loss)", ["loss"]),
        ("optimizer.param_groups[0]['lr'] = 0.1 * loss.item()", ["0.1 * loss.item()"]),
    ],
)
def test_numbers_of_the_share_are_found(line, sources):
    assert let_out(line) == sources


@pytest.mark.parametrize(
    "line",
    [
        "print(epoch)",
        "print(len(train_loader))",
        "print(f'{epoch} of 3')",
        "n = loss.item()",
        "print('a', end='')",
        "optimizer.param_groups[0]['lr'] = 0.1 * epoch",
        "log.append(loss.item())",  # which the loop's end combines
    ],
)
def test_what_is_alike_or_stays_inside_is_none(line):
    assert let_out(line) == []


def test_a_scheduler_is_steered_and_a_print_is_not():
    made = plan(*BEFORE, NAMES, batch("scheduler.step(loss)", "print(loss)"))
    assert found(made) == [("loss", True, True), ("loss", True, False)]


def test_where_not_all_ranks_come_it_is_not_safe():
    made = plan(*BEFORE, NAMES, batch("if x.max() > 1:", "    print(loss)"))
    assert found(made) == [("loss", False, False)]


def test_what_an_evaluation_run_whole_shows_is_whole():
    assert found(plan(*BEFORE, evaluation("n = 0", "print(F.cross_entropy(model(x), y))", "pass"))) == []


def test_counts_beside_what_is_alike_are_not_added_up_in_one():
    count, alike = Value(extent=Extent.SUM), Value()
    assert as_a_whole(Value(items=(count, alike))) is Extent.VARYING
    assert as_a_whole(Value(items=(count, count))) is Extent.SUM
    assert as_a_whole(Value(items=(Value(extent=Extent.MEAN), alike))) is Extent.MEAN
