"""Runs titled, noted and deleted by command; one that still runs is left alone."""

from __future__ import annotations

import json
import os
import time

import pytest

from nbddp.cli import main
from nbddp.run.folder.folders import create, runs_in


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [create(tmp_path, name, now=1_700_000_000.0 + n) for n, name in enumerate(["good", "bad"])]
    for folder in found:
        os.utime(folder.path, (time.time() - 1000,) * 2)  # one that was never started, long ago
    return found


def test_a_title_and_a_note_are_listed(folders, capsys):
    good, _ = folders
    assert main(["runs", "--rename", "good", "larger batches"]) == 0
    assert main(["runs", "--note", "larger", "to be\nrepeated"]) == 0
    assert capsys.readouterr().out == f"{good.name} is now called 'larger batches'.\n{good.name}: noted.\n"
    assert main(["runs"]) == 0
    assert "    larger batches\n    to be\n    repeated\n" in capsys.readouterr().out
    assert main(["runs", "--json"]) == 0
    assert [row["title"] for row in json.loads(capsys.readouterr().out)] == ["larger batches", ""]
    assert main(["runs", "--rename", "good", ""]) == 0
    assert capsys.readouterr().out == f"{good.name} has no title now.\n"


def test_runs_are_deleted_all_or_none(folders, capsys):
    assert main(["runs", "--delete", "good", "nobody"]) == 2
    assert runs_in(folders[0].path.parents[2]) == folders
    assert main(["runs", "--delete", "good", "good", "bad"]) == 0
    assert capsys.readouterr().out == "".join(f"deleted {folder.name}\n" for folder in folders)
    assert runs_in(folders[0].path.parents[2]) == []


def test_a_run_that_goes_on_is_not_deleted(train, capsys, wait_until, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    run = train(epochs=4_000, pause=0.01)
    wait_until(lambda: run.state.step >= 2)
    assert main(["runs", "--delete", run.name]) == 1
    assert "it still runs" in capsys.readouterr().err
    assert run.processes()
    run.stop("kill")
    assert main(["runs", "--delete", run.name]) == 0
    assert not run.folder.path.exists()
