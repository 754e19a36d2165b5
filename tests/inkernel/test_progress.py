"""What a cell tells while it trains, as the state of a run."""

from __future__ import annotations

import torch

from nbddp.inkernel import progress as under_test
from nbddp.inkernel.progress import Progress


def test_epochs_steps_and_metrics():
    progress = Progress()
    seen = []
    for epoch in progress.epochs(range(10, 13)):
        seen.append(epoch)
        for _ in range(4):
            progress.report_step(4, loss=torch.tensor([0.5]), name="x")
        progress.report_epoch(total=2.0 * epoch)
    progress.catch_up()
    state = progress.state
    assert seen == [10, 11, 12]
    assert (state.epoch, state.epochs, state.step, state.steps, state.batch) == (2, 3, 12, 12, 4)
    assert [(row["epoch"], row["total"]) for row in state.history] == [(0, 20.0), (1, 22.0), (2, 24.0)]
    assert dict(state.values) == {"loss": 0.5}
    assert state.unreadable == 0


def test_the_last_value_is_told_however_short_the_training(monkeypatch):
    monkeypatch.setattr(under_test.time, "monotonic", lambda: 100.0)
    progress = Progress()
    progress.epoch_begins(0)
    for value in (3.0, 2.0, 1.0):
        progress.report_step(loss=value)
    progress.catch_up()
    assert progress.state.curves["step:loss"].points[-1] == (3.0, 1.0)


def test_it_ends_after_the_epoch_in_which_that_is_asked_for():
    progress = Progress()
    seen = []
    for epoch in progress.epochs(range(5)):
        seen.append(epoch)
        progress.stop_asked = epoch == 1
    assert seen == [0, 1]


def test_numbers_that_are_none_are_told_once_and_kept_out_of_curves():
    progress = Progress()
    progress.epoch_begins(0)
    for value in (float("nan"), float("inf"), 1.0):
        progress.report_epoch(loss=value)
    assert progress.state.nan is not None
    assert progress.state.nan.name == "loss"
    assert progress.state.curves["epoch:loss"].points[-1][1] == 1.0


def test_printed_lines_become_a_history():
    progress = Progress()
    progress.printed("epoch 3: loss 0.25")
    assert [dict(row) for row in progress.state.printed] == [{"epoch": 3.0, "loss": 0.25}]
