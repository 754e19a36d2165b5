"""How a run ended: it is told apart whether it did nothing any more, or was only slow."""

from __future__ import annotations

import pytest

from .runs import QUIET_FOR, ending

STILL = "python x.py\nstill running after 300 s"


def steps(*times: float) -> dict[int, list[dict[str, object]]]:
    return {0: [{"event": "backward", "time": time} for time in times]}


@pytest.mark.parametrize(
    ("events", "error", "now", "ended"),
    [
        (steps(1.0, 2.0), "", 3.0, "done"),
        ({0: [{"event": "cut", "time": 2.0}]}, "", 3.0, "cut"),
        (steps(1.0), "python x.py\nKeyError: 3", 3.0, "raised"),
        (steps(100.0, 200.0, 300.0), STILL, 310.0, "slow"),
        (steps(1.0, 2.0, 3.0), STILL, 4.0 + QUIET_FOR, "hangs"),
        (steps(1.0, 1.0 + QUIET_FOR), STILL, 2.0 + 3 * QUIET_FOR, "slow"),
        ({0: [{"event": "cut", "time": 2.0}]}, STILL, 3.0, "hangs"),
        ({}, STILL, 300.0, "slow"),
    ],
    ids=["done", "cut", "raised", "slow steps", "quiet", "quiet as between steps", "cut but there", "no step yet"],
)
def test_how_a_run_ended(events, error, now, ended) -> None:
    assert ending(events, error, now) == ended
