"""Wherever an interrupt comes, it is raised in the end or answered; and what is not to be broken off is not."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from nbddp.run.folder.folders import runs_in
from nbddp.run.processes.interrupts import answer, breakable, check, held_back, interrupted
from nbddp.run.run import Run
from nbddp.run.start.command import RunOptions
from nbddp.run.start.warm import WarmHelper
from nbddp.run.stop import withdraw
from nbddp.run.supervision.leader import leader_of
from tests.run.conftest import SCRIPTS, until

SCRIPT = (SCRIPTS / "pretend.py").read_text()
LONG = RunOptions(arguments=("--epochs", "500", "--pause", "0.05"))
FORGOTTEN = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    """Whatever the shell has left to these tests; and afterwards it is in place again."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


class Finalized:
    def __del__(self) -> None:
        interrupt()


def finalize() -> None:
    Finalized()


def collect() -> None:
    def callback(phase: str, info: object) -> None:
        if phase == "start":
            interrupt()

    gc.callbacks.append(callback)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(callback)


def swallow() -> None:
    with contextlib.suppress(BaseException):
        interrupt()


@FORGOTTEN
@pytest.mark.parametrize("forget", [finalize, collect, swallow])
def test_one_that_python_forgets_is_raised_behind_the_work(forget: Callable[[], None]):
    done = []

    @held_back()
    def work() -> None:
        breakable(lambda: (forget(), done.append("the work went on")))
        done.append("and what comes behind it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["the work went on"]


def test_it_is_raised_at_the_end_only():
    done = []

    @held_back()
    def work() -> None:
        interrupt()
        done.append(interrupted())
        interrupt()
        done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [True, "all of it"]


def test_breakable_work_is_broken_off_at_once():
    def endless() -> None:
        interrupt()
        pytest.fail("it went on")

    with held_back():
        with pytest.raises(KeyboardInterrupt):
            breakable(endless)
        answer()


def test_breakable_work_does_not_begin_behind_an_interrupt():
    with held_back():
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            breakable(lambda: pytest.fail("it has begun"))
        answer()
        assert breakable(lambda: "done") == "done"


def test_what_follows_broken_work_is_not_broken_off():
    def ended() -> str:
        interrupt()
        return "ended"

    with held_back():
        try:
            breakable(interrupt)
        except KeyboardInterrupt:
            assert ended() == "ended"
        answer()


def test_one_that_is_answered_is_not_raised_any_more():
    with held_back():
        interrupt()
        answer()
        assert not interrupted()
        check()


def test_an_error_is_what_remains():
    @held_back()
    def work() -> None:
        interrupt()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()


def test_held_work_within_breakable_work_is_whole():
    done = []

    def work() -> None:
        with held_back():
            interrupt()
            done.append("whole")
        done.append("behind it")

    with held_back():
        with pytest.raises(KeyboardInterrupt):
            breakable(work)
        answer()
    assert done == ["whole"]


def test_held_work_within_held_work_passes_it_on():
    done = []

    @held_back()
    def work() -> None:
        with held_back():
            interrupt()
            done.append("inner")
        done.append(interrupted())

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["inner", True]


def test_another_thread_has_none():
    found = []

    def work() -> None:
        with held_back():
            found.extend([interrupted(), breakable(lambda: "done")])

    with held_back():
        interrupt()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        answer()
    assert found == [False, "done"]


@pytest.mark.parametrize("handler", [signal.SIG_IGN, None], ids=["ignored", "not Python's"])
def test_what_python_does_not_handle_stays_so(monkeypatch, handler):
    monkeypatch.setattr(signal, "getsignal", lambda _: handler)
    with monkeypatch.context() as patched:
        patched.setattr(signal, "signal", lambda *_: pytest.fail("a handler was set"))
        with held_back():
            assert not interrupted()


@pytest.fixture
def place(tmp_path):
    """No run of it goes on, however a test went."""
    yield tmp_path
    for folder in runs_in(tmp_path):
        Run(folder).stop("kill")


def start(place, **options) -> None:
    with held_back():
        Run.start(SCRIPT, "x", LONG, root=place, **options)


def alone(place) -> bool:
    return not any(Run(folder).processes() for folder in runs_in(place))


def test_a_start_that_is_interrupted_twice_leaves_nothing(place, monkeypatch):
    """The second interrupt comes when the first is being seen to."""

    def again(folder) -> None:
        interrupt()
        withdraw(folder)

    class Watch:
        def __init__(self, _: object) -> None:
            interrupt()

    monkeypatch.setattr("nbddp.run.run.withdraw", again)
    monkeypatch.setattr("nbddp.run.run.Watch", Watch)
    with pytest.raises(KeyboardInterrupt):
        start(place)
    monkeypatch.undo()
    until(lambda: alone(place))


@FORGOTTEN
def test_one_that_is_forgotten_while_the_run_is_filled_leaves_nothing(place):
    with pytest.raises(KeyboardInterrupt):
        start(place, fill=lambda _: finalize())
    assert runs_in(place) == []


def test_a_supervisor_that_has_not_yet_said_who_it_is_is_waited_for(place, monkeypatch):
    run = Run.start(SCRIPT, "x", LONG, root=place)
    answers = iter([None, None])
    monkeypatch.setattr("nbddp.run.stop.leader_of", lambda folder: next(answers, leader_of(folder)))
    withdraw(run.folder)
    assert run.folder.path.exists()
    assert run.processes() == []


def test_a_start_that_waits_for_its_helper_is_interrupted_at_once(place):
    helper = WarmHelper.start()
    try:
        assert helper.wait_until_ready(60)
        os.kill(helper.process.pid, signal.SIGSTOP)

        def press() -> None:
            until(lambda: runs_in(place) and runs_in(place)[0].command.exists())
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press)
        thread.start()
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            start(place, helper=helper)
        thread.join()
        assert time.monotonic() - began < 15  # it would wait for twenty seconds
        assert runs_in(place) == []
        assert helper.wait_until_ready(60)  # a new one
    finally:
        helper.close()


# A supervisor that is told to stop when it has the run, and has not come to listening yet.
STOPPED = """\
import os, signal, sys
sys.path.append(sys.argv[1])
from nbddp.run.start import cold
from nbddp.run.supervision import leader
own = leader.announce
def announce(folder, me):
    os.kill(me.pid, signal.SIGTERM)
    own(folder, me)
leader.announce = announce
cold.main(sys.argv[2])"""


def test_a_supervisor_that_is_stopped_before_it_listens_ends_the_run_in_words(place, monkeypatch):
    monkeypatch.setattr("nbddp.run.start.cold.BOOT", STOPPED)
    run = Run.start(SCRIPT, "x", LONG, root=place)
    assert run.wait(20).phase == "stopped"
    assert run.failure is None
    assert run.processes() == []
