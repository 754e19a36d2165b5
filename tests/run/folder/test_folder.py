"""A run's folder: where it is, who may read it, what it is called, and which are deleted."""

import json
import stat
from pathlib import Path

import pytest

from nbddp.run.folder.folder import RESERVED, RunFolder
from nbddp.run.folder.folders import create, runs_in, tame


def test_two_folders_of_one_second_are_two(tmp_path):
    folders = [create(tmp_path, "digits", now=1_700_000_000.0) for _ in range(3)]
    assert len({folder.path for folder in folders}) == 3
    assert runs_in(tmp_path) == folders
    assert all(folder.name[:15].replace("-", "").isdigit() for folder in folders)


def test_only_its_owner_can_look_into_it(tmp_path):
    folder = create(tmp_path, "digits")
    for path in (folder.path, folder.logs, folder.stacks, folder.path.parent):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.reserve.stat().st_mode) == 0o600
    assert folder.reserve.stat().st_size == RESERVED


def test_git_ignores_all_runs_and_a_changed_ignore_file_stays(tmp_path):
    create(tmp_path, "a")
    ignore = tmp_path / ".nbddp" / ".gitignore"
    assert ignore.read_text() == "*\n"
    ignore.write_text("runs/\n")
    create(tmp_path, "b")
    assert ignore.read_text() == "runs/\n"


@pytest.mark.parametrize(
    ("name", "tamed"),
    [
        ("digits", "digits"),
        ("my net.ipynb", "my-net.ipynb"),
        ("../../etc", "etc"),
        ("", "run"),
        ("...", "run"),
        ("grüße 日本", "grüße-日本"),
        ("-rf $(x) 'y'", "rf-x-y"),
        ("a" * 200, "a" * 60),
        ("a/b\0c\n", "a-b-c"),
    ],
)
def test_names_are_tamed(tmp_path, name, tamed):
    assert tame(name) == tamed
    assert create(tmp_path, name).path.parent == tmp_path / ".nbddp" / "runs"


def test_every_path_is_inside_and_no_two_are_the_same(tmp_path):
    folder = create(tmp_path, "a")
    values = [getattr(folder, name) for name, kind in vars(RunFolder).items() if isinstance(kind, property)]
    paths = [value for value in values if isinstance(value, Path)] + [folder.log(0), folder.log(1)]
    assert len(paths) > 8
    assert len(set(paths)) == len(paths)
    assert all(folder.path in path.parents for path in paths)


def test_the_command_is_kept_and_a_damaged_one_is_nothing(tmp_path):
    folder = create(tmp_path, "a")
    folder.write_command({"name": "é\udcff", "cwd": Path("/x")})
    assert folder.read_command() == {"name": "é\udcff", "cwd": "/x"}
    folder.command.write_text("{")
    assert folder.read_command() == {}
    folder.command.write_text("[]")
    assert folder.read_command() == {}


def test_no_runs_are_no_error(tmp_path):
    assert runs_in(tmp_path) == []
    (tmp_path / ".nbddp").write_text("")
    assert runs_in(tmp_path) == []


def test_the_environment_is_not_kept_on_disk(train, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    run = train(epochs=1)
    run.wait(30)
    for path in run.folder.path.rglob("*"):
        assert path.is_dir() or b"hunter2" not in path.read_bytes()


def test_facts_and_command_are_kept(train):
    run = train(epochs=1)
    run.wait(30)
    kept = json.loads(run.folder.command.read_text())
    assert kept["facts"]["torch"]
    assert kept["arguments"] == [str(run.folder.script), "--nproc", "2", "--epochs", "1"]
    assert kept["cwd"] == str(Path.cwd())
    assert (kept["start"], kept["nproc"]) == ("warm", 2)
