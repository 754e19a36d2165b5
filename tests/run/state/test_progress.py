"""How fast a training gets on, and how long it will take."""

from __future__ import annotations

from typing import Any

import pytest

from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import RunState


def step(number: int, time: float, rank: int = 0, **more: Any) -> dict[str, Any]:
    return {"event": "step", "rank": rank, "time": time, "step": number, "steps": 100, "values": {"loss": 1.0}, **more}


def after(*events: dict[str, Any]) -> RunState:
    return fold_all(RunState(), events)


def test_the_rate_is_that_of_the_steps():
    found = after(*(step(n, n * 0.5) for n in range(1, 20)))
    assert found.rate == pytest.approx(2.0)


def test_a_change_of_the_rate_shows_within_seconds():
    slow = [step(n, float(n)) for n in range(1, 5)]
    fast = [step(n, 4 + (n - 4) * 0.1) for n in range(5, 200)]
    assert after(*slow).rate == pytest.approx(1.0)
    assert after(*slow, *fast).rate == pytest.approx(10.0, rel=0.05)


@pytest.mark.parametrize("time", [1.0, 0.5])
def test_a_clock_that_stands_or_runs_back_gives_no_rate(time):
    assert after(step(1, 1.0), step(2, time)).rate is None


def test_what_is_left_follows_from_the_share_that_is_done():
    found = after(step(1, 0.0), step(51, 50.0))
    assert found.progress == pytest.approx(0.51)
    assert found.eta == pytest.approx(50.0 * 0.49 / 0.5)
    assert after(step(1, 0.0)).eta is None


def test_an_epoch_that_had_to_wait_does_not_move_what_is_left():
    def epoch(number: int, time: float) -> list[dict[str, Any]]:
        where = {"epoch": number, "batch": 1, "batches": 10, "steps": 100}
        begin = {"event": "epoch", "rank": 0, "time": time, "epoch": number, "epochs": 10}
        return [begin, step(number * 10 + 1, time, **where)]

    times = (0.0, 10.0, 20.0, 320.0, 330.0)  # the third took five minutes
    found = after(*(event for number, time in enumerate(times) for event in epoch(number, time)))
    assert found.eta == pytest.approx(10.0 * 10 * (1 - 0.41))


def test_of_unknown_length_nothing_is_foretold():
    found = after(step(1, 0.0, steps=None), step(2, 1.0, steps=None))
    assert (found.progress, found.eta) == (None, None)


def test_other_ranks_do_not_move_the_run():
    found = after(step(1, 1.0), step(9, 2.0, rank=1))
    assert found.step == 1
    assert found.ranks[1].step == 9
    assert found.curves["step:loss"].seen == 1


def test_gpus_tell_what_they_tell_of_ranks_that_there_are():
    gpus = {"event": "gpus", "time": 3.0, "gpus": {"0": {"used": 5, "total": 10, "busy": None}, "7": {"used": 1}}}
    found = after(step(1, 1.0), gpus)
    assert (found.ranks[0].used, found.ranks[0].total, found.ranks[0].busy) == (5, 10, None)
    assert set(found.ranks) == {0}


def test_an_epoch_of_another_rank_is_none_of_the_runs():
    epoch = {"event": "epoch", "time": 1.0, "epoch": 2, "epochs": 3}
    assert after({**epoch, "rank": 0}).epoch == 2
    assert after({**epoch, "rank": 1}).epoch is None
