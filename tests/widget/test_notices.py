from __future__ import annotations

import pytest

from nbddp.documentation import page_of
from nbddp.run.state.fold import fold, fold_all
from nbddp.run.state.state import RunState
from nbddp.widget.notices import MOST, for_page, notices
from nbddp.widget.subject import Subject
from tests.widget.runs import START, WARNING, ended, failed, running


def texts(state: RunState, subject: Subject | None = None) -> list[tuple[str, str]]:
    return [(one["level"], one["text"]) for one in notices(state, subject or Subject())]


def test_a_run_that_goes_well_has_nothing_to_say():
    assert texts(ended(running(300))) == []


def test_a_job_that_waits_after_it_was_taken_away():
    queued = {"event": "queued", "time": 1.0, "engine": "slurm", "job": "41", "partition": "gpu"}
    launch = {"event": "launch", "time": 5.0, "name": "x"}
    requeue = {"event": "requeue", "time": 65.0, "why": "it was preempted by another job"}
    assert texts(fold_all(RunState(), [queued, launch, requeue])) == [
        ("note", "queued as job 41 in partition gpu"),
        ("note", "Attempt 1 ended after 1:00, to be continued: it was preempted by another job."),
    ]


def test_who_failed_first_comes_first():
    assert texts(failed(), Subject(diagnostics=(WARNING,))) == [
        ("error", "Rank 1 failed first in epoch 4, step 100: ValueError: sizes <differ>"),
        ("warning", "Cell 7, line 12: 'val_loader' is kept whole"),
        ("note", "Rank 0 failed after that."),
    ]


def test_the_traceback_is_behind_it_and_in_cells_where_it_can_be():
    assert notices(failed())[0]["more"] == "Traceback\n  line 81\nValueError"
    assert notices(failed(), Subject(explain=lambda _: "cell 7, line 3"))[0]["more"] == "cell 7, line 3"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"signal": "SIGKILL"}, "Rank 1 was ended by SIGKILL in epoch 4, step 100"),
        ({"status": 3}, "Rank 1 died in epoch 4, step 100: it ended with status 3"),
    ],
)
def test_a_rank_that_was_found_dead(how, said):
    state = fold(running(100), {"event": "died", "rank": 1, "time": START + 5} | how)
    assert texts(state) == [("error", said)]


def test_the_likely_cause_of_an_end():
    state = fold(running(100), {"event": "exit", "rank": None, "time": START, "status": 1, "cause": "Out of memory."})
    assert texts(state) == [("error", "Out of memory.")]


def test_silence_shows_where_each_rank_waits_and_goes_away():
    hang = {
        "event": "hang",
        "time": START + 40,
        "rank": None,
        "quiet": 30.0,
        "stacks": {"0": "in all_reduce", "main": "in join"},
    }
    state = fold(running(100), hang)
    (said,) = notices(state)
    assert said["text"] == "No progress for 0:30; still waiting. You can stop the run."
    assert said["more"] == "rank 0\nin all_reduce\n\nmain process\nin join"
    assert texts(fold_all(state, [{"event": "step", "rank": 0, "time": START + 50, "step": 101}])) == []


def test_not_a_number_says_when():
    state = fold(running(40), {"event": "nan", "rank": 1, "epoch": 1, "step": 38, "name": "loss", "time": START})
    assert texts(state) == [("warning", "loss is not a finite number on rank 1, first in epoch 2, step 38")]


def test_warnings_are_counted_and_their_first_line_shown():
    event = {"event": "warning", "rank": 0, "time": START, "message": "slow loader\nuse workers"}
    (said,) = notices(fold_all(RunState(), [event] * 12))
    assert said == {"level": "warning", "text": "Rank 0: slow loader (×12)", "more": "use workers"}


def test_a_diagnostic_has_reason_and_cure():
    (said,) = notices(RunState(), Subject(diagnostics=(WARNING,)))
    assert said["more"] == "why: its use is unclear\nhelp: build it in a cell"
    assert said["page"] == page_of(WARNING.rule)
    why, cure = (["why: %1", WARNING.why.words], ["help: %1", WARNING.help.words])
    assert for_page(said)["behind"] == ["%1\n%2", why, cure]
    assert for_page(said)["words"] == ["Cell %1, line %2: %3", WARNING.cell, WARNING.line, WARNING.message.words]


def test_of_a_traceback_a_page_gets_one_copy():
    (said,) = (one for one in notices(failed()) if one["more"])
    assert for_page(said).keys() == {"level", "text", "more", "words"}


def test_lost_cold_and_unreadable():
    state = fold_all(
        RunState(),
        [
            {"event": "launch", "time": START, "rank": None, "why_cold": "The helper is gone: started cold."},
            {"event": "step", "rank": "?"},
            {"event": "lost", "time": START, "rank": None, "message": "The machine was restarted."},
        ],
    )
    assert texts(state) == [
        ("error", "The machine was restarted."),
        ("note", "The helper is gone: started cold."),
        ("note", "1 line of the run's events could not be read"),
    ]


def test_there_is_an_end_to_them():
    many = [{"event": "warning", "rank": 0, "time": START, "message": str(number)} for number in range(80)]
    said = texts(fold_all(RunState(), many))
    assert len(said) == MOST + 1
    assert said[-1] == ("note", "30 more notices; all are in the run's folder")
