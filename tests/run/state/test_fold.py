"""A fold never raises, and what makes no sense changes nothing."""

from __future__ import annotations

import pytest

from nbddp.run.state.fold import FOLDS, fold, fold_all
from nbddp.run.state.state import RunState

START = RunState(name="x", updated=5.0)


@pytest.mark.parametrize("name", sorted(FOLDS))
def test_an_event_without_its_fields_is_counted(name):
    found = fold(START, {"event": name})
    assert (found.unreadable == 0) is (name in {"heard", "nan", "job"})
    assert found.name == "x"


@pytest.mark.parametrize(
    "event", [{"event": "step"}, {"event": "exit", "time": "late"}, {"event": "rank", "rank": "a"}]
)
def test_one_that_is_broken_changes_nothing_else(event):
    assert fold(START, event) == RunState(name="x", updated=5.0, unreadable=1)


@pytest.mark.parametrize("event", [{}, {"event": "later"}, {"event": 3}, {"event": None, "time": 9.0}])
def test_one_of_no_known_kind_is_left_alone(event):
    assert fold(START, event) is START


def test_time_never_runs_backwards():
    epoch = {"event": "epoch", "rank": 0, "epoch": 0, "epochs": 3}
    assert fold(START, {**epoch, "time": 9.0}).updated == 9.0
    assert fold(START, {**epoch, "time": 2.0}).updated == 5.0


def test_one_after_the_other():
    events = [{"event": "checkpoint", "path": "a", "time": 6.0}, {"event": "checkpoint", "path": "b", "time": 7.0}]
    assert fold_all(START, events).checkpoint == "b"
    assert fold_all(START, []) is START
