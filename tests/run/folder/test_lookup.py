"""The run that a person means."""

from __future__ import annotations

import pytest

from nbddp.run.folder.errors import NoSuchRun
from nbddp.run.folder.folders import create
from nbddp.run.folder.lookup import checkpoint_of, find
from nbddp.run.run import Run


@pytest.fixture
def runs(tmp_path):
    return [create(tmp_path, name, now=at) for name, at in (("digits", 0.0), ("digits-large", 100.0), ("cars", 200.0))]


def test_without_a_name_it_is_the_latest(tmp_path, runs):
    assert find(tmp_path) == runs[-1]


def test_by_name_part_or_path(tmp_path, runs):
    assert find(tmp_path, runs[0].name) == runs[0]
    assert find(tmp_path, "large") == runs[1]
    assert find(tmp_path, "cars") == runs[2]
    assert find(tmp_path, str(runs[0].path)) == runs[0]


@pytest.mark.parametrize(
    ("name", "words"), [("digits", "give more"), ("dogs", "There is no run dogs"), ("zzz/1", "no run")]
)
def test_what_is_not_clear_is_refused(tmp_path, runs, name, words):
    assert runs
    with pytest.raises(NoSuchRun, match=words):
        find(tmp_path, name)


def test_a_checkpoint_is_named_by_its_file_or_its_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = create(tmp_path, "digits")
    (tmp_path / "kept.pt").write_bytes(b"")
    assert checkpoint_of(tmp_path, "kept.pt") == str(tmp_path / "kept.pt")
    assert checkpoint_of(tmp_path, "digits") == str(run.checkpoint)
    assert checkpoint_of(tmp_path, "nothing.pt") == str(tmp_path / "nothing.pt")  # which others say is not there


def test_where_there_are_none_it_says_how_to_start_one(tmp_path):
    with pytest.raises(NoSuchRun, match="start one"):
        find(tmp_path)
    with pytest.raises(NoSuchRun, match="none in this folder"):
        find(tmp_path, "x")


def test_a_run_is_found_by_its_name_a_part_of_it_its_path_or_as_the_latest(tmp_path):
    first, second = create(tmp_path, "digits", now=1_700_000_000.0), create(tmp_path, "faces", now=1_700_000_100.0)
    assert find(tmp_path) == second
    assert find(tmp_path, "digits") == find(tmp_path, first.name) == find(tmp_path, str(first.path)) == first
    with pytest.raises(NoSuchRun, match=r"fits several runs, .*digits.*faces"):
        find(tmp_path, "2023")
    with pytest.raises(NoSuchRun, match=r"no run digtis.*digits"):
        find(tmp_path, "digtis")
    with pytest.raises(NoSuchRun, match="no runs in"):
        find(tmp_path / "elsewhere")
    with pytest.raises(NoSuchRun, match="no run in"):
        Run.attach(tmp_path / "nothing")
