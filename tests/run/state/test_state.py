"""The state of a run: what each kind of event does to it, in which order events count, and what malformed ones do."""

import dataclasses
import time

import pytest

from nbddp.run.state.curve import LIMIT, Curve
from nbddp.run.state.fold import FOLDS, fold, fold_all
from nbddp.run.state.state import OVER, PHASES, Exit, Rank, RunState, changed

LAUNCH = {"event": "launch", "time": 100.0, "rank": None, "name": "digits", "pid": 7, "nproc": 2, "start": "warm"}
RANKS = [
    {"event": "rank", "time": 101.0, "rank": r, "world_size": 2, "pid": 70 + r, "device": "cpu", "device_name": "cpu"}
    for r in (0, 1)
]


def step(number, rank=0, at=None, **more):
    event = {"event": "step", "rank": rank, "time": 102.0 + number * 0.1 if at is None else at, "step": number}
    return {
        **event,
        "steps": None,
        "epoch": 0,
        "batch": number,
        "batches": 10,
        "values": {"loss": 1.0 / number},
        **more,
    }


def error(rank, at, message="bad label", **more):
    return {
        "event": "error",
        "rank": rank,
        "time": at,
        "type": "ValueError",
        "message": message,
        "victim": False,
        **more,
    }


def after(*events):
    return fold_all(RunState(), [LAUNCH, *RANKS, *events])


def test_a_run_starts_trains_and_is_done():
    assert RunState().phase == "starting"
    assert after().phase == "starting"
    epoch = {"event": "epoch", "rank": 0, "time": 102.0, "epoch": 0, "epochs": 3}
    training = after(epoch, step(1), step(2))
    assert (training.phase, training.epoch, training.epochs, training.batch, training.step) == ("training", 0, 3, 2, 2)
    done = fold(training, {"event": "exit", "rank": None, "time": 110.0, "status": 0, "signal": None})
    assert (done.phase, done.ended, done.over, done.elapsed(now=999.0)) == ("done", 110.0, True, 10.0)
    assert done.progress == 1.0


def test_every_phase_that_is_over_is_a_phase():
    assert set(PHASES) > OVER


def test_fold_leaves_the_earlier_state_as_it_was():
    before = after(step(1))
    copy = dataclasses.asdict(before)
    fold_all(before, [step(2), error(1, 103.0), {"event": "warning", "rank": 0, "time": 104.0, "message": "w"}])
    assert dataclasses.asdict(before) == copy


def test_changed_is_replace_and_makes_equal_values():
    rank = Rank(0, pid=5)
    assert changed(rank, step=3) == dataclasses.replace(rank, step=3)
    assert changed(RunState(), step=3) == dataclasses.replace(RunState(), step=3)


def test_folds_only_name_fields_that_exist():
    state = after(
        {"event": "epoch", "rank": 0, "time": 102.0, "epoch": 0, "epochs": 1},
        step(1),
        {"event": "metrics", "rank": 0, "time": 103.0, "epoch": 0, "values": {"accuracy": 0.5}},
        {"event": "nan", "rank": 1, "time": 103.0, "epoch": 0, "step": 1, "name": "loss"},
        {"event": "checkpoint", "rank": 0, "time": 103.0, "epoch": 0, "path": "c.pt"},
        {"event": "warning", "rank": 0, "time": 103.0, "message": "careful"},
        {"event": "unreadable", "rank": None, "time": None, "message": "line 3"},
        {"event": "line", "rank": 0, "time": 103.0, "text": "epoch 1: loss 0.5"},
        {"event": "stopping", "rank": None, "time": 104.0, "grade": "epoch"},
        {"event": "hang", "rank": None, "time": 104.0, "quiet": 60.0, "stacks": {"0": "File"}},
        error(1, 105.0),
        {"event": "died", "rank": 0, "time": 105.1, "signal": "SIGKILL", "pid": 70},
        {"event": "end", "rank": 0, "time": 105.2},
        {"event": "result", "rank": 0, "time": 105.3, "path": "r.pt"},
        {"event": "lost", "rank": None, "time": 106.0, "message": "gone"},
        {"event": "exit", "rank": None, "time": 106.0, "status": 1, "signal": None},
    )
    assert state.unreadable == 1
    for value in (state, *state.ranks.values(), *state.failures, *state.warnings):
        assert set(value.__dict__) == {field.name for field in dataclasses.fields(value)}
    assert set(FOLDS) >= {"launch", "rank", "epoch", "step", "metrics", "error", "exit", "hang", "line"}


def test_rate_is_of_the_last_seconds_and_eta_counts_from_the_first_step():
    epoch = {"event": "epoch", "rank": 0, "time": 102.0, "epoch": 0, "epochs": 2}
    state = after(epoch, *(step(n) for n in range(1, 11)))
    assert state.rate == pytest.approx(10.0)
    assert state.progress == pytest.approx(0.5)
    assert state.eta == pytest.approx(0.9 * 0.5 / 0.45)
    slower = fold_all(state, [step(10 + n, at=103.0 + n * 1.0) for n in range(1, 30)])
    assert slower.rate == pytest.approx(1.0, rel=0.05)


def test_other_ranks_report_of_themselves_only():
    state = after(step(1, rank=1, memory=123))
    assert state.step == 0
    assert state.curves == {}
    assert (state.ranks[1].step, state.ranks[1].memory, state.ranks[1].phase) == (1, 123, "training")


def test_history_has_one_row_an_epoch_with_its_metrics_and_seconds():
    state = after(
        {"event": "epoch", "rank": 0, "time": 102.0, "epoch": 0, "epochs": 2},
        step(1, at=102.5),
        {"event": "metrics", "rank": 0, "time": 104.0, "epoch": 0, "values": {"running_loss": 7.0, "accuracy": 0.5}},
        {"event": "epoch", "rank": 0, "time": 104.0, "epoch": 1, "epochs": 2},
        step(2, at=105.0, epoch=1),
        {"event": "metrics", "rank": 0, "time": 107.0, "epoch": 1, "values": {}},
    )
    assert state.history[0] == {"epoch": 0, "running_loss": 7.0, "accuracy": 0.5, "seconds": 2.0}
    assert state.history[1] == {"epoch": 1, "loss": 0.5, "seconds": 3.0}
    assert state.curves["epoch:accuracy"].points == ((0.0, 0.5),)
    assert [p[0] for p in state.curves["step:loss"].points] == [1.0, 2.0]


def test_the_culprit_is_the_earliest_that_is_no_victim_in_whatever_order_they_are_written():
    victim = error(0, 103.0, "Connection closed by peer [127.0.0.1]:4", type="RuntimeError", victim=True)
    late, early = error(2, 103.6), error(1, 103.5)
    for order in ([victim, late, early], [early, late, victim], [late, victim, early]):
        assert after(*order).culprit.rank == 1


def test_a_victim_is_known_by_its_words_where_its_rank_did_not_say_so():
    message = "[../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection reset by peer"
    state = after(error(0, 103.0, message, type="RuntimeError"), error(1, 103.4))
    assert state.culprit.rank == 1
    assert after(error(0, 103.0, message, type="RuntimeError")).culprit.rank == 0


def test_a_killed_rank_is_the_culprit_of_the_victims_that_report_first():
    victim = error(0, 103.0, "Connection closed by peer", type="RuntimeError")
    died = {"event": "died", "rank": 1, "time": 103.5, "pid": 71, "signal": "SIGKILL", "cause": "out of memory"}
    state = after(victim, died)
    assert (state.culprit.rank, state.culprit.type, state.ranks[1].phase) == (1, "SIGKILL", "killed")


def test_a_rank_that_told_its_error_is_not_reported_again_by_its_parent():
    again = {"event": "died", "rank": 1, "time": 103.5, "pid": 71, "signal": None, "status": 1}
    secondhand = error(1, 103.6, "the same once more", secondhand=True)
    assert len(after(error(1, 103.0), again, secondhand).failures) == 1
    assert len(after(secondhand).failures) == 1


@pytest.mark.parametrize(
    ("events", "status", "signal", "phase"),
    [
        ([], 0, None, "done"),
        ([], 1, None, "failed"),
        ([], None, "SIGKILL", "killed"),
        (["epoch"], 0, None, "stopped"),
        (["epoch"], 1, None, "failed"),
        (["now"], None, "SIGTERM", "stopped"),
        (["epoch", "now"], 1, None, "stopped"),
        (["kill"], None, "SIGKILL", "killed"),
        (["kill", "epoch"], None, "SIGKILL", "killed"),
    ],
)
def test_the_last_phase_follows_from_what_was_asked_and_how_it_ended(events, status, signal, phase):
    stops = [{"event": "stopping", "rank": None, "time": 103.0, "grade": grade} for grade in events]
    state = after(*stops, {"event": "exit", "rank": None, "time": 104.0, "status": status, "signal": signal})
    assert state.phase == phase


def test_a_run_that_failed_before_it_was_told_to_stop_has_failed():
    stop = {"event": "stopping", "rank": None, "time": 104.0, "grade": "now"}
    state = after(error(1, 103.0), stop, {"event": "exit", "rank": None, "time": 105.0, "status": 1})
    assert state.phase == "failed"


def test_stopping_shows_its_grade_until_the_end():
    finishing = after(step(1), {"event": "stopping", "rank": None, "time": 103.0, "grade": "epoch"})
    assert finishing.phase == "finishing-epoch"
    assert fold(finishing, step(2)).phase == "finishing-epoch"
    assert fold(finishing, {"event": "stopping", "rank": None, "time": 103.0, "grade": "now"}).phase == "stopping"


def test_a_hang_goes_away_with_the_next_step():
    hang = {"event": "hang", "rank": None, "time": 170.0, "quiet": 60.0, "stacks": {"0": "Thread", "1": "File"}}
    state = after(step(1), hang)
    assert (state.hang.quiet, sorted(state.hang.stacks)) == (60.0, ["0", "1"])
    assert fold(state, step(2, rank=1)).hang is None


def test_the_first_nan_is_kept_with_epoch_and_step_whoever_found_it():
    told = {"event": "nan", "rank": 1, "time": 103.0, "epoch": 4, "step": 40, "name": "loss"}
    assert after(told, {**told, "step": 50}).nan.step == 40
    seen = after(step(3, values={"loss": float("nan")}))
    assert (seen.nan.name, seen.nan.step) == ("loss", 3)
    assert seen.curves["step:loss"].points == ()
    assert after({"event": "line", "rank": 0, "time": None, "text": "loss: nan"}).nan.name == "loss"


def test_lost_is_taken_back_when_an_exit_turns_up():
    lost = after({"event": "lost", "rank": None, "time": 105.0, "message": "the machine was restarted"})
    assert (lost.phase, lost.lost) == ("lost", "the machine was restarted")
    found = fold(lost, {"event": "exit", "rank": None, "time": 105.0, "status": 0, "signal": None})
    assert (found.phase, found.lost) == ("done", "")
    assert fold(found, {"event": "lost", "rank": None, "time": 106.0, "message": "x"}).phase == "done"


def test_repeated_warnings_are_counted():
    warning = {"event": "warning", "rank": 0, "time": 103.0, "message": "slow loader"}
    (notice,) = after(warning, warning, warning).warnings
    assert notice.count == 3


@pytest.mark.parametrize(
    "event",
    [
        {"event": "step"},
        {"event": "step", "rank": 0, "time": "noon", "step": 1},
        {"event": "step", "rank": 0, "time": 1.0, "step": 1, "values": {"loss": "low"}},
        {"event": "step", "rank": 0, "time": 1.0, "step": 1, "values": [1]},
        {"event": "epoch", "rank": 0, "time": 1.0},
        {"event": "rank", "rank": None, "time": 1.0},
        {"event": "metrics", "rank": 0, "time": 1.0, "epoch": None},
        {"event": "error", "rank": 0, "time": 1.0, "traceback": [{}]},
        {"event": "stopping", "rank": None, "time": 1.0, "grade": "softly"},
        {"event": "launch"},
        {"event": "line", "rank": None, "text": "x"},
    ],
)
def test_an_event_that_makes_no_sense_is_counted_and_changes_nothing_else(event):
    before = after(step(1))
    assert fold(before, event) == dataclasses.replace(before, unreadable=1)


def test_unknown_events_of_a_later_version_are_left_alone():
    before = after(step(1))
    assert fold(before, {"event": "confetti", "rank": 0, "time": 1.0}) is before
    assert fold(before, {}) is before
    assert fold(before, {"event": ["step"]}) is before


def test_printed_lines_become_curves_last_lines_and_a_table():
    lines = ["\x1b[32mepoch 1: loss 0.5, accuracy 91.0%\x1b[0m", "epoch 2: loss 0.25", "epoch 2: val_loss 0.3", ""]
    state = after(*({"event": "line", "rank": 0, "text": text} for text in lines))
    assert state.curves["printed:loss"].points == ((1.0, 0.5), (2.0, 0.25))
    assert state.printed == (
        {"epoch": 1.0, "loss": 0.5, "accuracy": 91.0},
        {"epoch": 2.0, "loss": 0.25, "val_loss": 0.3},
    )
    assert state.ranks[0].line == "epoch 2: val_loss 0.3"
    assert after({"event": "line", "rank": 1, "text": "loss 5.0"}).curves == {}


def test_a_curve_keeps_a_bounded_number_of_true_points_and_the_last():
    curve, points = Curve("loss", "step", "step"), []
    for n in range(12_345):
        points.append((float(n), n * 0.5))
        curve = curve.add(*points[-1])
    assert len(curve.points) <= LIMIT + 1
    assert len(curve.points) > LIMIT / 2
    assert set(curve.points) <= set(points)
    assert (curve.points[0], curve.points[-1]) == (points[0], points[-1])
    assert list(curve.points) == sorted(curve.points)
    gaps = {b[0] - a[0] for a, b in zip(curve.points[:-2], curve.points[1:-1], strict=True)}
    assert gaps == {32.0}


def test_exit_codes_are_those_of_a_shell():
    assert (Exit(0).code, Exit(3).code, Exit(None, "SIGKILL").code) == (0, 3, 137)


def test_a_hundred_thousand_events_take_seconds_not_minutes():
    events = [step(n, at=100.0 + n * 0.01) for n in range(1, 100_001)]
    began = time.perf_counter()
    state = fold_all(RunState(), events)
    assert state.step == 100_000
    assert time.perf_counter() - began < 10.0
