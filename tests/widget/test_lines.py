from __future__ import annotations

from nbddp.run.state.state import RunState
from nbddp.widget.lines import changes, line
from nbddp.widget.subject import Subject
from tests.widget.runs import WARNING, ended, failed, running


def test_a_line_says_where_the_run_is():
    assert line(running(100)) == (
        "digits · Training · epoch 4 of 10 · step 100 · train_loss 1.178 · val_loss 1.278 · accuracy 0.5379"
        " · loss 0.9156 · 50 steps/s · 0:03 left"
    )


def test_the_last_line_says_how_long_it_took():
    assert line(ended(running(300))).endswith(" · 1:00 on 2 ranks")


def test_nothing_is_known_yet():
    assert line(RunState()) == "Starting"


def test_an_epoch_or_a_phase_is_worth_a_line_and_a_step_is_not():
    assert list(changes(running(31), running(32))) == []
    assert list(changes(running(59), running(60))) == [line(running(60))]
    assert list(changes(running(300), ended(running(300)))) == [line(ended(running(300)))]
    state = running(5)
    assert list(changes(state, state)) == []


def test_what_there_is_to_say_is_said_once():
    subject = Subject(diagnostics=(WARNING,), explain=lambda _: "cell 7, line 3")
    assert list(changes(running(100), failed(), subject)) == [
        "error: Rank 1 failed first in epoch 4, step 100: ValueError: sizes <differ>\ncell 7, line 3",
        "note: Rank 0 failed after that.",
        line(failed()),
    ]
