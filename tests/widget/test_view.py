from __future__ import annotations

import json
from pathlib import Path

import pytest

from nbddp.run.state.curve import Curve
from nbddp.run.state.fold import fold, fold_all
from nbddp.run.state.state import PHASES, RunState
from nbddp.widget.subject import Subject
from nbddp.widget.view import LABELS, facts, home_relative, series, snapshot
from tests.widget.runs import START, ended, failed, running

SUBJECT = Subject("script.py")


@pytest.mark.parametrize("state", [RunState(), running(0), running(), ended(running(300)), failed()])
def test_any_state_is_json_that_a_browser_takes(state):
    assert json.loads(json.dumps(snapshot(state, SUBJECT, logs={0: ["a"]}), allow_nan=False))


def test_facts_of_a_run_in_its_eighth_epoch():
    seen = facts(running(220), SUBJECT, START + 7)
    assert seen["label"] == "Training"
    assert (seen["epoch"], seen["epochs"], seen["batch"], seen["batches"]) == (7, 10, 10, 30)
    assert seen["ranks"][1] == {
        "rank": 1,
        "phase": "training",
        "device": "cuda:1",
        "device_name": "A fast one",
        "step": 220,
        "samples_rate": None,
        "memory": 1_300_000_001,
        "load": "",
        "line": "",
    }
    assert seen["ended"] is None


def test_how_full_and_busy_the_gpus_are_where_somebody_looks():
    seen = {"1": {"used": 3 << 30, "total": 80 << 30, "busy": 87}, "7": {"used": 1, "total": 2, "busy": None}}
    state = fold(running(220), {"event": "gpus", "time": START + 8, "rank": None, "gpus": seen})
    assert [rank["load"] for rank in facts(state, SUBJECT)["ranks"]] == ["", "3.0 GiB of 80 GiB, 87 % busy"]


def test_facts_are_small():
    state = running(220, world=8)
    assert len(json.dumps(facts(state, SUBJECT))) < 3000


def test_every_phase_has_words():
    assert set(LABELS) == set(PHASES)


def test_ranks_have_their_place_before_they_are_there():
    state = fold(RunState(), {"event": "launch", "time": START, "rank": None, "nproc": 3})
    assert [(rank["rank"], rank["phase"]) for rank in facts(state, SUBJECT)["ranks"]] == [
        (0, "starting"),
        (1, "starting"),
        (2, "starting"),
    ]
    assert len(facts(RunState(), SUBJECT)["ranks"]) == 1


def test_ranks_that_were_ended_with_another_do_not_train_on():
    assert [rank["phase"] for rank in facts(failed(), SUBJECT)["ranks"]] == ["ended", "failed"]
    assert [rank["phase"] for rank in facts(ended(running(), 1), SUBJECT)["ranks"]] == ["ended", "ended"]


def test_a_lost_run_has_an_end():
    state = fold(running(), {"event": "lost", "time": START + 9, "rank": None, "message": "gone"})
    assert facts(state, SUBJECT)["ended"] == START + 9


def test_values_that_json_cannot_say_are_left_out():
    state = fold_all(
        running(30), [{"event": "step", "rank": 0, "time": START + 9, "step": 31, "values": {"loss": float("nan")}}]
    )
    assert "NaN" not in json.dumps(snapshot(state, SUBJECT))


def test_epochs_of_curves_are_counted_from_one():
    drawn = series(running(90).curves)
    assert [x for x, _ in drawn["epoch:accuracy"]["points"]] == [1.0, 2.0, 3.0]
    assert drawn["step:loss"]["points"][0][0] == 1.0


@pytest.mark.parametrize(("printed", "drawn"), [(0.0, 1.0), (0.3, 1.3), (1.0, 1.0)])
def test_printed_epochs_too(printed, drawn):
    curve = Curve("loss", "printed", "epoch").add(printed, 2.0)
    assert series({"printed:loss": curve})["printed:loss"]["points"] == [[drawn, 2.0]]


def test_curves_of_one_quantity_share_a_panel():
    drawn = series(running(60).curves)
    assert drawn["epoch:train_loss"]["panel"] == drawn["epoch:val_loss"]["panel"] == "loss by epoch"
    assert drawn["step:loss"]["panel"] == "loss by step"
    assert (
        drawn["epoch:accuracy"]["panel"] == series({"a": Curve("top-1 Acc", "epoch", "epoch").add(0, 1)})["a"]["panel"]
    )


def test_paths_below_home_are_short():
    assert home_relative(str(Path.home() / "a" / "b.py")) == "~/a/b.py"
    assert home_relative("/elsewhere/b.py") == "/elsewhere/b.py"
    assert home_relative("b.py") == "b.py"
