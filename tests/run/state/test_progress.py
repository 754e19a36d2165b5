"""How fast a training gets on, and how long it will take."""

from __future__ import annotations

from typing import Any

import pytest

from nbddp.run.state.fold import fold_all
from nbddp.run.state.shown import drawn_curves, shown_curves
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


def test_gpus_are_curves_over_the_seconds_of_the_run():
    launch = {"event": "launch", "time": 100.0}
    ranks = [step(1, 101.0, rank) for rank in (0, 1)]
    looks = [
        {"event": "gpus", "time": 100.0 + n, "gpus": {"0": {"used": n << 30, "busy": 50}, "1": {"used": 1 << 29}}}
        for n in (2, 4)
    ]
    found = after(launch, *ranks, *looks)
    assert {key: curve.points for key, curve in found.gauges.items()} == {
        "GPU memory, GiB 0": ((2.0, 2.0), (4.0, 4.0)),
        "GPU use, % 0": ((2.0, 50.0), (4.0, 50.0)),
        "GPU memory, GiB 1": ((2.0, 0.5), (4.0, 0.5)),
    }
    assert list(drawn_curves(found))[-3:] == list(found.gauges)
    assert "GPU" not in str(shown_curves(found))  # which are the numbers of the training


def test_an_epoch_of_another_rank_is_none_of_the_runs():
    epoch = {"event": "epoch", "time": 1.0, "epoch": 2, "epochs": 3}
    assert after({**epoch, "rank": 0}).epoch == 2
    assert after({**epoch, "rank": 1}).epoch is None


def test_samples_a_second_are_those_of_all_ranks():
    """The last batch of an epoch is smaller: it counts as often as it comes."""
    ranks = [{"event": "rank", "rank": rank, "time": 0.0, "world_size": 2} for rank in (0, 1)]
    steps = [
        step(n, n * 0.5, rank, batch=(n - 1) % 4 + 1, batches=4, samples=2 if n % 4 == 0 else 10)
        for n in range(1, 21)
        for rank in (0, 1)
    ]
    found = after(*ranks, *steps)
    assert [rank.samples_per_step(4) for rank in found.ranks.values()] == [8.0, 8.0]
    assert found.samples_rate == pytest.approx(2.0 * 16)
    assert found.ranks[1].rate == pytest.approx(2.0)
    ended = after(*ranks, *steps, {"event": "exit", "time": 10.0, "status": 0})
    assert ended.samples_rate == pytest.approx(2.0 * 16)


def test_samples_that_not_all_ranks_tell_are_no_number():
    both = [{"event": "rank", "rank": rank, "time": 0.0, "world_size": 2} for rank in (0, 1)]
    steps = [step(n, n * 0.5, samples=10) for n in range(1, 9)]
    assert after(*both, *steps).samples_rate is None
    assert after(both[0], *steps).samples_rate is None  # another machine has the other rank
