"""What a training says: metrics, printed lines, warnings, numbers that are none."""

from __future__ import annotations

import math
from typing import Any

import pytest

from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import RunState
from nbddp.run.state.values import MOST_WARNINGS


def after(*events: dict[str, Any], **state: Any) -> RunState:
    return fold_all(RunState(**state), events)


def line(text: str, rank: int = 0) -> dict[str, Any]:
    return {"event": "line", "time": None, "rank": rank, "text": text}


def warning(message: str, rank: int | None = 0) -> dict[str, Any]:
    return {"event": "warning", "time": 1.0, "rank": rank, "message": message}


def test_an_epochs_metrics_are_a_row_and_a_point():
    found = after({"event": "metrics", "time": 5.0, "epoch": 2, "values": {"loss": 0.5}}, epoch_began=3.0)
    assert found.history == ({"epoch": 2, "loss": 0.5, "seconds": 2.0},)
    assert found.curves["epoch:loss"].points == ((2.0, 0.5),)


def test_without_metrics_the_latest_values_stand_in():
    found = after({"event": "metrics", "time": 5.0, "epoch": 0, "values": {}}, values={"loss": 0.7})
    assert found.history == ({"epoch": 0, "loss": 0.7},)
    assert not found.curves


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_the_first_that_is_no_number_is_kept(value):
    metrics = {"event": "metrics", "time": 5.0, "epoch": 1, "values": {"loss": value}}
    later = {"event": "nan", "name": "other", "rank": 1}
    found = after(metrics, later)
    assert found.nan is not None
    assert (found.nan.name, found.nan.epoch) == ("loss", 1)
    assert after({**metrics, "values": {"loss": 1.0}}).nan is None


def test_warnings_are_counted_by_rank_and_not_without_end():
    found = after(warning("a"), warning("a"), warning("a", rank=1), warning("b"))
    assert [(n.message, n.rank, n.count) for n in found.warnings] == [("a", 0, 2), ("a", 1, 1), ("b", 0, 1)]
    assert len(after(*(warning(f"{n}") for n in range(2 * MOST_WARNINGS))).warnings) == MOST_WARNINGS


def test_printed_lines_of_rank_0_make_a_table_where_they_name_an_epoch():
    found = after(line("epoch 1 loss 0.5"), line("epoch 1 accuracy 0.9"), line("epoch 2 loss 0.4"))
    assert found.printed == ({"epoch": 1, "loss": 0.5, "accuracy": 0.9}, {"epoch": 2, "loss": 0.4})
    assert found.ranks[0].line == "epoch 2 loss 0.4"


def test_lines_of_other_ranks_are_only_shown():
    found = after(line("epoch 1 loss 0.5", rank=1))
    assert found.printed == ()
    assert not found.curves
    assert found.ranks[1].line == "epoch 1 loss 0.5"


@pytest.mark.parametrize("text", ["", "   ", "hello", "\x1b[2K"])
def test_lines_without_numbers_make_no_curve(text):
    assert not after(line(text)).curves
