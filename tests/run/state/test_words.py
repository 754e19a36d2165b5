"""Numbers and states in words."""

from __future__ import annotations

import pytest

from nbddp.run.state.curve import Curve
from nbddp.run.state.state import Hang, NotANumber, Notice, Rank, RunState
from nbddp.run.state.words import (
    curves_worth_showing,
    duration,
    headline,
    load,
    no_log,
    notes,
    number,
    rate,
    size,
    sparkline,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0, "0:00"), (7.9, "0:07"), (754, "12:34"), (3723, "1:02:03"), (360000, "100:00:00")],
)
def test_duration(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (None, ""),
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (10 * 1024, "10 KiB"),
        (3 << 30, "3.0 GiB"),
        (5 << 40, "5120 GiB"),
    ],
)
def test_size(count, text):
    assert size(count) == text


def test_load_is_of_the_gpu_where_it_was_looked_at():
    assert load(Rank(0, memory=1 << 30)) == "1.0 GiB"
    assert load(Rank(0, memory=1 << 30, used=2 << 30, total=4 << 30, busy=7)) == "2.0 GiB of 4.0 GiB, 7 % busy"
    assert load(Rank(0)) == ""


@pytest.mark.parametrize(("value", "text"), [(0.00012345, "0.0001234"), (1e-12, "1e-12"), (12.0, "12"), (0.0, "0")])
def test_number(value, text):
    assert number(value) == text


@pytest.mark.parametrize(("steps", "text"), [(None, ""), (2.0, "2 steps/s"), (0.25, "4 s/step"), (0.0, "")])
def test_rate(steps, text):
    assert rate(RunState(rate=steps)) == text


def test_a_headline_leaves_out_what_is_not_known_or_over():
    state = RunState(name="run", phase="finishing-epoch", started=0.0, rate=2.0, eta=60.0)
    assert headline(state, 61.0) == "run · finishing epoch · 1:01 · 2 steps/s · 1:00 left"
    done = RunState(name="run", phase="done", started=0.0, ended=5.0, rate=2.0, eta=60.0)
    assert headline(done, 61.0) == "run · done · 0:05"


def test_notes_are_what_there_is_to_say():
    assert notes(RunState()) == []
    said = notes(RunState(why_cold="No helper.", nan=NotANumber("loss", 0, 1, 2), hang=Hang(0.0, 65.0),
                          warnings=(Notice(1, "slow", 0.0, 3), Notice(None, "full", 0.0))))  # fmt: skip
    assert len(said) == 5
    assert "No helper." in said[0]
    assert "epoch 1, step 2" in said[1]
    assert "1:05" in said[2]
    assert said[3:] == ["rank 1: slow (3 times)", "full"]


def test_no_log_says_which_there_are():
    assert "0, 1" in no_log("run", 7, [0, 1])
    assert "rank 7" in no_log("run", 7, [])


@pytest.mark.parametrize(
    ("values", "width", "line"),
    [([], 5, ""), ([1, 2], 0, ""), ([0, 1], 5, "▁█"), ([3, 3, 3], 5, "▁▁▁"), ([0, 9, 0, 7], 2, "█▁"), ([1, 8], 1, "▁")],
)
def test_sparkline(values, width, line):
    assert sparkline(values, width) == line


def test_of_one_name_the_curve_of_epochs_is_shown():
    def curve(name: str, source: str, points: int) -> Curve:
        found = Curve(name, source, "step")
        for n in range(points):
            found = found.add(n, n)
        return found

    curves = {
        c.source + c.name: c for c in (curve("loss", "step", 5), curve("loss", "epoch", 2), curve("one", "step", 1))
    }
    assert [(c.name, c.source) for c in curves_worth_showing(RunState(curves=curves))] == [("loss", "epoch")]
    assert curves_worth_showing(RunState()) == []
