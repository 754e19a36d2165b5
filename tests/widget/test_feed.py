"""A run is followed in the background: what is shown, how often, and how it ends."""

from __future__ import annotations

import io
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from nbddp.run.state.state import RunState
from nbddp.widget.feed import PERIOD, Feed, follow
from nbddp.widget.lines import line
from nbddp.widget.subject import Subject
from nbddp.widget.surface import InText
from tests.widget.runs import WARNING, FakeRun, ended, running


class Seen:
    """A surface that keeps what it is shown."""

    def __init__(self) -> None:
        self.shown: list[tuple[float, RunState, dict[int, Sequence[str]], bool]] = []
        self.troubles: list[str] = []
        self.thread = ""

    def show(self, state: RunState, logs: Any, /, *, last: bool = False) -> None:
        self.thread = threading.current_thread().name
        self.shown.append((time.monotonic(), state, logs, last))

    def trouble(self, sentence: str) -> None:
        self.troubles.append(sentence)


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        threading.Event().wait(0.005)


@pytest.fixture
def seen() -> Seen:
    return Seen()


def test_it_shows_what_changes_and_ends_with_the_run(seen):
    run = FakeRun(running(1))
    feed = Feed(run, seen)
    feed.start()
    until(lambda: len(seen.shown) == 1)
    run.state = running(50)
    until(lambda: seen.shown[-1][1] is run.state)
    run.logs[1] = "a\rb\nc\n"
    until(lambda: seen.shown[-1][2].get(1) == ["b", "c"])
    run.state = ended(running(300))
    assert feed.join(10)
    assert seen.shown[-1][1] is run.state
    assert [last for *_, last in seen.shown] == [False] * (len(seen.shown) - 1) + [True]
    assert seen.thread == "nbddp-feed"


def test_at_most_ten_updates_a_second(seen):
    run = FakeRun(running(1))
    feed = Feed(run, seen)
    feed.start()
    deadline = time.monotonic() + 1.0
    steps = 1
    while time.monotonic() < deadline:
        run.state = running(steps := steps % 200 + 1)
    assert feed.close()
    times = [moment for moment, *_ in seen.shown[:-1]]  # the last one comes when it is due
    assert len(times) >= 3
    assert all(later - earlier >= PERIOD * 0.9 for earlier, later in itertools.pairwise(times))


def test_nothing_new_is_not_shown_again_at_once(seen):
    feed = Feed(FakeRun(running(1)), seen)
    feed.start()
    until(lambda: len(seen.shown) == 2)  # the second is the heartbeat
    assert seen.shown[1][0] - seen.shown[0][0] > 1.5
    assert feed.close()


def test_closing_shows_what_is_known_by_then(seen):
    run = FakeRun(running(1))
    feed = Feed(run, seen)
    feed.start()
    until(lambda: bool(seen.shown))
    run.state, run.logs[0] = running(60), "the end\n"
    assert feed.close()
    _, state, logs, last = seen.shown[-1]
    assert (state, logs, last) == (run.state, {0: ["the end"]}, True)


def test_a_run_that_can_no_longer_be_read_is_no_silent_end(seen):
    def closed(_rank: int) -> str:
        raise PermissionError("the folder is closed")

    feed = Feed(FakeRun(running(1), read=closed), seen)
    feed.start()
    assert feed.join(10)
    assert seen.troubles == ["This view of the run has ended (the folder is closed); the run itself continues."]
    assert isinstance(feed.problem, PermissionError)


def test_logs_may_come_as_lines(seen):
    Feed(FakeRun(ended(running(300)), read=lambda _: ["one", "two"]), seen)._update()
    assert seen.shown[-1][2] == {0: ["one", "two"], 1: ["one", "two"]}


def test_a_burst_of_log_leaves_the_kernel_free(seen):
    """Half a megabyte of new text at each look: another thread still gets its turn at once, again and again."""

    looks = itertools.count()

    def burst(_rank: int) -> str:
        look = next(looks)
        return "".join(f"line {look} {number} {'x' * 80}\n" for number in range(5000))

    feed = Feed(FakeRun(running(1, world=8), read=burst), seen)
    feed.start()
    longest, deadline, tick = 0.0, time.monotonic() + 1.5, threading.Event()
    while time.monotonic() < deadline:
        began = time.monotonic()
        tick.wait(0.001)
        longest = max(longest, time.monotonic() - began)
    assert feed.close()
    assert len(seen.shown) >= 2
    assert longest < 0.2


def test_without_a_kernel_it_is_text(capsys):
    run = FakeRun(running(30))
    feed = follow(run, Subject("x.py", (WARNING,)), lambda _: None)
    assert isinstance(feed.surface, InText)
    run.state = ended(running(300))
    assert feed.join(10)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "warning: Cell 7, line 12: 'val_loader' is kept whole"
    assert lines[-2:] == ["the last word", line(run.state)]


def test_text_says_something_now_and_then(monkeypatch):
    stream = io.StringIO()
    surface = InText(Subject(), FakeRun().printed, stream)
    surface.show(running(31), {})
    surface.show(running(32), {})
    assert len(stream.getvalue().splitlines()) == 1
    monkeypatch.setattr(time, "monotonic", lambda: 1e12)
    surface.show(running(33), {})
    assert len(stream.getvalue().splitlines()) == 2
    surface.show(running(34), {}, last=True)
    assert "the last word" in stream.getvalue().splitlines()
    surface.trouble("That was all.")
    assert stream.getvalue().splitlines()[-1] == "That was all."
