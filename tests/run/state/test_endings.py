"""How a run ends: what was asked for, what failed first, what was only heard of."""

from __future__ import annotations

from typing import Any

import pytest

from nbddp.run.state.endings import ending, is_victim
from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import Exit, Failure, Rank, RunState

OWN, OTHERS = (Failure(0, "ValueError", "bad", 1.0, victim=victim) for victim in (False, True))


@pytest.mark.parametrize(
    ("stop", "failures", "status", "signal", "phase"),
    [
        (None, (), 0, None, "done"),
        ("now", (), 0, None, "done"),
        ("epoch", (), 0, None, "stopped"),
        (None, (OWN,), 1, None, "failed"),
        (None, (), 1, None, "failed"),
        (None, (), None, "SIGKILL", "killed"),
        (None, (OWN,), None, "SIGKILL", "failed"),
        (None, (OTHERS,), None, "SIGKILL", "killed"),
        ("now", (), 1, None, "stopped"),
        ("now", (OTHERS,), 1, None, "stopped"),
        ("now", (OWN,), 1, None, "failed"),
        ("kill", (OWN,), None, "SIGKILL", "killed"),
        ("epoch", (), 1, None, "failed"),
    ],
)
def test_the_last_phase(stop, failures, status, signal, phase):
    assert ending(RunState(stop=stop, failures=failures), Exit(status, signal)) == phase


@pytest.mark.parametrize(
    ("kind", "message", "yes"),
    [
        ("RuntimeError", "Connection closed by peer [127.0.0.1]:5", True),
        ("DistBackendError", "ncclRemoteError: A call failed", True),
        ("RuntimeError", "Read error [127.0.0.1]:5", True),
        ("RuntimeError", "shapes cannot be multiplied", False),
        ("KeyError", "connection closed", False),
        ("RuntimeError", "", False),
    ],
)
def test_what_a_rank_says_when_another_has_gone(kind, message, yes):
    assert is_victim(kind, message) is yes


def after(*events: dict[str, Any], **state: Any) -> RunState:
    ranks = {number: Rank(number, pid=70 + number, step=5, epoch=1) for number in (0, 1)}
    return fold_all(RunState(phase="training", ranks=ranks, **state), events)


def error(rank: int, **more: Any) -> dict[str, Any]:
    return {"event": "error", "time": 3.0, "rank": rank, "type": "ValueError", "message": "bad", **more}


def test_a_failure_knows_where_its_rank_was():
    (failure,) = after(error(1)).failures
    assert (failure.rank, failure.pid, failure.epoch, failure.step, failure.died) == (1, 71, 1, 5, False)
    assert [rank.phase for rank in after(error(1)).ranks.values()] == ["starting", "failed"]


def test_what_is_told_of_a_rank_counts_once():
    died = {"event": "died", "time": 4.0, "rank": 1, "signal": "SIGKILL", "status": None, "pid": 71}
    assert len(after(error(1), died).failures) == 1
    assert len(after(error(1), error(1, secondhand=True)).failures) == 1
    assert len(after(error(0), died).failures) == 2
    assert after(died).ranks[1].phase == "killed"


def stopping(grade: str) -> dict[str, Any]:
    return {"event": "stopping", "time": 2.0, "rank": None, "grade": grade}


@pytest.mark.parametrize(
    ("grades", "stop", "phase"),
    [
        (["epoch"], "epoch", "finishing-epoch"),
        (["epoch", "now"], "now", "stopping"),
        (["kill", "now", "epoch"], "kill", "stopping"),
    ],
)
def test_a_harder_grade_takes_over_and_a_softer_one_does_not(grades, stop, phase):
    found = after(*(stopping(grade) for grade in grades))
    assert (found.stop, found.phase) == (stop, phase)


def test_what_had_ended_is_not_ended_again():
    done = {"event": "exit", "time": 9.0, "rank": None, "status": 0, "signal": None}
    forced = {"event": "exit", "time": 9.5, "rank": None, "status": None, "signal": "SIGKILL", "forced": True}
    assert after(done, forced).phase == "done"
    assert after(done, {"event": "lost", "time": 10.0, "message": "gone"}).phase == "done"
    assert after({"event": "lost", "time": 10.0, "message": "gone"}).phase == "lost"
    assert after(done, stopping("now")).phase == "done"
