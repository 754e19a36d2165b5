"""Where a cell runs, by its first line."""

from __future__ import annotations

import pytest

from nbddp.cli.parse import Refusal
from nbddp.magics.first_line import modes
from nbddp.magics.first_line.modes import kernel_line, left_out, parse
from nbddp.magics.runs.in_kernel import first_line

LINES = [
    ("%%single_train", 0, ("single_train", "")),
    ("%%dp_train --devices 0,1\n", 0, ("dp_train", "--devices 0,1")),
    ("%%ddp_train", 8, None),
    ("%%ddp_train --mode ddp", 0, None),
    ("%%ddp_train --mode auto", 0, ("single_train", "--mode auto")),
    ("%%ddp_train --mode=auto", 1, ("single_train", "--mode=auto")),
    ("%%ddp_train --mode auto", 2, None),
    ("%%ddp_train --mode auto --devices 1", 2, ("single_train", "--mode auto --devices 1")),
    ("%%ddp_train --mode dp", 2, ("dp_train", "--mode dp")),
    ("%%ddp_train --mode atuo", 2, None),
    ("%%ddp_trainer", 0, None),
    ("%%time", 0, None),
]


@pytest.mark.parametrize(("line", "gpus", "expected"), LINES)
def test_first_lines(monkeypatch, line, gpus, expected):
    monkeypatch.setattr(modes, "gpus", lambda: ("GPU",) * gpus)
    assert kernel_line(line, {}) == expected


def test_a_line_stays_one_line_and_others_stay_as_they_are():
    cell = ["%%single_train --device cpu\n", "x = 1\n"]
    assert first_line(cell) == ["get_ipython().run_line_magic('single_train', '--device cpu')\n", "x = 1\n"]
    assert first_line(["x = 1\n", "%%single_train\n"]) == ["x = 1\n", "%%single_train\n"]
    assert first_line([]) == []


def test_what_is_for_processes_is_named():
    found = parse("single_train", "--nproc 4 --devices 0,1 --batch-per-rank")
    assert found is not None
    ignored = "--nproc, --batch-per-rank, --devices: only for runs on processes, ignored here."
    assert left_out("single_train", found) == ignored
    found = parse("dp_train", "--devices 0,1")
    assert found is not None
    assert left_out("dp_train", found) == ""


@pytest.mark.parametrize("options", ["--fresh", "--resume x.pt", "--seed 0", "-- --lr 0.1"])
def test_what_would_be_another_training_is_refused(options):
    with pytest.raises(Refusal, match="%%dp_train: "):
        parse("dp_train", options)
