"""`nbddp verify` from end to end, with runs of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nbddp.cli import main
from nbddp.run.start.launch import Helper

pytest.importorskip("torch", reason="the light environments have no torch")

NOTEBOOK = Path(__file__).parents[1] / "e2e" / "notebooks" / "plain_loop.py"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, helper):
    """One helper for all tests, in a folder of each one's own."""

    @contextmanager
    def shared() -> Iterator[Helper]:
        yield helper

    monkeypatch.setattr("nbddp.cli.verify._helper", shared)
    monkeypatch.chdir(tmp_path)


@pytest.mark.thorough
def test_a_kept_curve_is_a_test_of_the_users_own(capsys):
    words = ["verify", str(NOTEBOOK), "--steps", "6"]
    assert main([*words, "--save", "expected.json"]) == 0
    said = capsys.readouterr().out
    assert "plain_loop.py: same within rounding" in said
    assert len([line for line in said.splitlines() if line.strip()[:2].strip().isdigit()]) >= 6
    assert main([*words, "--against", "expected.json", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["verdict"], told["status"], len(told["steps"])) == ("same", 0, 6)
    other = Path("other.py")
    other.write_text(NOTEBOOK.read_text().replace("momentum=0.9", "momentum=0.5"))
    assert main(["verify", str(other), "--steps", "6", "--against", "expected.json"]) == 2
    assert "is no longer the same as in expected.json" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--batch-per-rank"], "nothing to compare"),
        (["--steps", "1"], "at least 2"),
        (["--nproc", "1"], "two or more"),
        (["--against", "nowhere.json"], "could not be read"),
        (["--step", "5"], "did you mean '--steps'"),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_runs(words, sentence, capsys):
    assert main(["verify", str(NOTEBOOK), *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_curve_of_other_steps_is_not_compared_with(capsys):
    Path("x.json").write_text(json.dumps({"format": 1, "steps asked for": 20, "seed": 0, "steps": [], "lines": []}))
    assert main(["verify", str(NOTEBOOK), "--steps", "6", "--against", "x.json"]) == 2
    assert "was saved with steps asked for 20" in capsys.readouterr().err
    Path("x.json").write_text("[]")
    assert main(["verify", str(NOTEBOOK), "--against", "x.json"]) == 2
    assert "holds no curve" in capsys.readouterr().err
