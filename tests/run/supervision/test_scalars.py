"""What TensorBoard reads of a run: the numbers that the widget shows, read back by TensorBoard's own reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from nbddp.run.folder.folders import create
from nbddp.run.run import Run
from nbddp.run.start.command import RunOptions
from nbddp.run.supervision.scalars import Scalars

PRETEND = (Path(__file__).parents[1] / "scripts" / "pretend.py").read_text()


def written(folder) -> dict[str, list[tuple[int, float]]]:
    found = EventAccumulator(str(folder.scalars)).Reload()
    return {tag: [(one.step, round(one.value, 6)) for one in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


def test_every_point_of_the_curves_that_are_shown(tmp_path):
    folder = create(tmp_path, "digits")
    folder.scalars.mkdir()
    events = [
        {"event": "launch", "time": 1.0, "sums": ["total"]},
        {"event": "step", "rank": 0, "time": 2.0, "step": 1, "values": {"loss": 0.5}},
        {"event": "metrics", "rank": 0, "time": 3.0, "epoch": 0, "values": {"total": 70.0, "accuracy": 0.25}},
        {"event": "step", "rank": 0, "time": 4.0, "step": 2, "values": {"loss": 0.25}},
    ]
    folder.events.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    folder.log(0).write_text("epoch 0: recall 0.75\n")
    scalars = Scalars(folder)
    scalars.catch_up()
    with folder.log(0).open("a") as file:
        file.write("epoch 1: recall 0.875")  # its line has no end
    scalars.catch_up()
    scalars.close()
    assert written(folder) == {
        "step/loss": [(1, 0.5), (2, 0.25)],
        "epoch/accuracy": [(0, 0.25)],
        "epoch/recall": [(0, 0.75), (1, 0.875)],
    }


@pytest.mark.parametrize("status", [0, 3])
def test_a_run_leaves_them_however_it_ends(tmp_path, status):
    script = f"{PRETEND}    sys.exit({status})\n"
    options = RunOptions(arguments=("--epochs", "2"), tensorboard=True)
    run = Run.start(script, "digits", options, root=tmp_path)
    state = run.wait(60)
    assert (state.phase, run.processes()) == ("failed" if status else "done", [])
    assert {tag: len(points) for tag, points in written(run.folder).items()} == {"step/loss": 6, "epoch/loss": 2}
    assert state.warnings == ()


def test_without_being_asked_for_there_are_none(tmp_path):
    assert not create(tmp_path, "digits").scalars.exists()
    assert not RunOptions().tensorboard
