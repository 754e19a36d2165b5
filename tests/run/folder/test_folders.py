"""New folders, those that there are, and old ones deleted."""

from __future__ import annotations

import stat

import pytest

from nbddp.run.folder.folders import create, remove, runs_in, tame


def test_a_new_one_has_what_a_run_needs_and_is_its_owners(tmp_path):
    folder = create(tmp_path, "my run", now=0.0)
    assert folder.logs.is_dir()
    assert folder.stacks.is_dir()
    assert folder.reserve.stat().st_size > 0
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert folder.name.endswith("-my-run")


def test_runs_are_listed_by_time_and_number(tmp_path):
    made = [create(tmp_path, "x", now=1000.0) for _ in range(11)]
    older = create(tmp_path, "y", now=0.0)
    assert runs_in(tmp_path) == [older, *made]


def test_what_is_no_folder_of_a_run_is_none(tmp_path):
    assert runs_in(tmp_path) == []
    folder = create(tmp_path, "x")
    (folder.path.parent / "file").write_text("")
    (folder.path.parent / "link").symlink_to(folder.path)
    assert runs_in(tmp_path) == [folder]


def test_what_is_deleted_is_told_and_others_stay(tmp_path):
    one, other = create(tmp_path, "a"), create(tmp_path, "b")
    assert remove([one]) == [one]
    assert runs_in(tmp_path) == [other]
    assert remove([one]) == [one]


@pytest.mark.parametrize(
    ("name", "tamed"),
    [("a b", "a-b"), ("../x", "x"), (".hidden", "hidden"), ("", "run"), ("---", "run"), ("é/1", "é-1")],
)
def test_tame(name, tamed):
    assert tame(name) == tamed
    assert len(tame(name * 100)) <= 60
