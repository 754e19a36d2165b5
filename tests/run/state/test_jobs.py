"""A run that waits in a queue, is ended by its engine, and goes on in another attempt."""

from __future__ import annotations

import pytest

from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import RunState
from nbddp.run.state.words import headline, notes

QUEUED = {"event": "queued", "time": 1.0, "engine": "slurm", "job": "41", "partition": "gpu", "name": "x", "nproc": 4}
LAUNCH = {"event": "launch", "time": 10.0, "name": "x", "nproc": 4, "start": "slurm"}
REQUEUE = {"event": "requeue", "time": 50.0, "why": "it was preempted by another job"}
EXIT = {"event": "exit", "time": 99.0, "status": 0, "signal": None}


def after(*events):
    state = fold_all(RunState(), events)
    assert state.unreadable == 0
    return state


def epoch(number, time=20.0):
    return {"event": "epoch", "time": time, "rank": 0, "epoch": number, "epochs": 9}


def metrics(number, value, time=21.0):
    return {"event": "metrics", "time": time, "rank": 0, "epoch": number, "values": {"loss": value}}


def step(number, value, time=22.0):
    return {"event": "step", "time": time, "rank": 0, "step": number, "values": {"l": value}, "batches": 2, "steps": 18}


def says(**fields):
    return {"event": "job", "time": None, "waits": False, **fields}


def test_it_is_queued_until_it_is_launched():
    state = after(QUEUED)
    assert (state.phase, state.over, state.nproc) == ("queued", False, 4)
    assert headline(state, 5.0) == "x · queued as job 41 in partition gpu · 0:04"
    assert after(QUEUED, LAUNCH).phase == "starting"


def test_why_it_waits_is_said():
    state = after(QUEUED, says(waits=True, partition="big", reason="others are before it"))
    assert headline(state, 5.0).startswith("x · queued as job 41 in partition big: others are before it")


def test_the_clock_starts_with_the_first_attempt():
    assert after(QUEUED, LAUNCH).elapsed(12.0) == 2.0
    assert after(QUEUED, LAUNCH, REQUEUE, {**LAUNCH, "time": 60.0}).elapsed(70.0) == 60.0


def test_put_back_into_the_queue():
    state = after(QUEUED, LAUNCH, epoch(0), REQUEUE)
    assert (state.phase, len(state.attempts)) == ("queued", 1)
    assert notes(state) == ["Attempt 1 ended after 0:40, to be continued: it was preempted by another job."]


def test_the_next_attempt_has_nothing_of_the_last_ones_processes_and_all_of_its_numbers():
    rank = {"event": "rank", "time": 11.0, "rank": 3, "host": "n2", "pid": 5}
    first = (epoch(0), step(2, 0.5), metrics(0, 0.4), epoch(1), step(3, 0.3))
    error = {"event": "error", "time": 40.0, "rank": 3, "type": "RuntimeError", "message": "connection closed"}
    state = after(QUEUED, LAUNCH, rank, *first, error, REQUEUE, {**LAUNCH, "time": 60.0})
    assert (state.phase, state.failures, dict(state.ranks)) == ("starting", (), {})
    assert [row["epoch"] for row in state.history] == [0]


def test_an_epoch_that_is_told_again_is_there_once():
    first = (epoch(0), step(2, 0.5), metrics(0, 0.4), epoch(1), step(4, 0.3), metrics(1, 0.3))
    again = (epoch(1, 61.0), step(3, 0.35, 62.0), step(4, 0.31, 63.0), metrics(1, 0.31, 64.0))
    state = after(QUEUED, LAUNCH, *first, REQUEUE, {**LAUNCH, "time": 60.0}, *again)
    assert [(row["epoch"], row["loss"]) for row in state.history] == [(0, 0.4), (1, 0.31)]
    assert state.curves["epoch:loss"].points == ((0.0, 0.4), (1.0, 0.31))
    assert state.curves["step:l"].points == ((2.0, 0.5), (3.0, 0.35), (4.0, 0.31))


def test_two_loops_over_epochs_in_one_attempt_both_stay():
    state = after(QUEUED, LAUNCH, epoch(0), metrics(0, 0.4), epoch(0), metrics(0, 0.1))
    assert [row["loss"] for row in state.history] == [0.4, 0.1]


def test_one_that_the_engine_took_without_a_word_waits_again():
    state = after(QUEUED, LAUNCH, epoch(0), says(waits=True, reason="it waits for nodes to become free"))
    assert (state.phase, len(state.attempts)) == ("queued", 1)
    assert "as after a node's failure" in notes(state)[0]
    assert len(after(QUEUED, LAUNCH, epoch(0), {**LAUNCH, "time": 60.0}).attempts) == 1


def test_an_engine_that_does_not_answer_ends_nothing():
    state = after(QUEUED, LAUNCH, epoch(0), says(silent=True))
    assert state.phase == "training"
    assert notes(state) == ["SLURM does not answer at the moment; the run itself goes on."]
    assert notes(after(QUEUED, LAUNCH, epoch(0), says(silent=True), says())) == []


def test_the_same_answer_changes_nothing():
    before = after(QUEUED, LAUNCH, says(nodes="n[1-2]"))
    assert fold_all(before, [says(nodes="n[1-2]")]) is before


@pytest.mark.parametrize("phase", ["stopped", "killed", "failed"])
def test_how_the_engine_calls_its_end(phase):
    state = after(QUEUED, {**EXIT, "status": None, "phase": phase, "cause": "Why.", "forced": True})
    assert (state.phase, state.exit.cause, state.over) == (phase, "Why.", True)


def test_its_own_word_counts_before_the_engines():
    forced = {**EXIT, "status": None, "phase": "killed", "cause": "It was cancelled.", "forced": True}
    assert after(QUEUED, LAUNCH, EXIT, forced).phase == "done"


def test_of_a_run_of_this_machine_an_engine_says_nothing():
    assert after(LAUNCH, says(waits=True)).phase == "starting"
