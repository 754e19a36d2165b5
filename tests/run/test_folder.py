"""A run's folder: where it is, who may read it, what it is called, and which are deleted."""

import json
import os
import stat
import time
from pathlib import Path

import pytest

from nbddp.run.errors import NoSuchRun
from nbddp.run.find import find
from nbddp.run.folder import RESERVED, RunFolder
from nbddp.run.folders import create, runs_in, tame
from nbddp.run.leader import leader_of
from nbddp.run.prune import glance, prune
from nbddp.run.run import Run


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


def test_pruning_deletes_old_runs_and_never_a_living_one(train, tmp_path, wait_until):
    old = [train(epochs=1) for _ in range(3)]
    for run in old:
        assert run.wait(30).phase == "done"
    living = train(epochs=100_000, pause=0.01)
    wait_until(lambda: living.state.step >= 2)
    assert [folder.name for folder in prune(tmp_path, keep=1)] == [run.name for run in old[:2]]
    assert [folder.name for folder in prune(tmp_path)] == [old[2].name]
    assert runs_in(tmp_path) == [living.folder]
    living.stop("kill")
    assert prune(tmp_path, keep=1) == []
    assert prune(tmp_path) == [living.folder]


def test_pruning_spares_a_run_that_has_just_been_made_and_one_of_another_machine(tmp_path):
    young, old, elsewhere = (create(tmp_path, name, now=1_700_000_000.0 + n) for n, name in enumerate("abc"))
    long_ago = time.time() - 1000
    os.utime(old.path, (long_ago, long_ago))
    elsewhere.supervisor.write_text(json.dumps({"pid": 1, "started": "1", "boot": "b", "host": "another"}))
    assert "started on another" in Run(elsewhere).state.warnings[0].message
    assert prune(tmp_path) == [old]
    assert runs_in(tmp_path) == [young, elsewhere]
    elsewhere.events.write_text('{"event": "exit", "time": 1.0, "rank": null, "status": 0}\n')
    assert prune(tmp_path) == [elsewhere]


def test_a_glance_at_a_long_run_shows_its_beginning_and_its_end(tmp_path):
    folder = create(tmp_path, "long")
    lines = ['{"event": "launch", "time": 5.0, "rank": null, "name": "long"}']
    step = '{"event": "step", "rank": 0, "time": 6.0, "step": %d, "epoch": %d, "values": {"loss": 1.0}}'
    lines += [step % (n, n // 100) for n in range(1, 20_000)]
    lines += ['{"event": "exit", "time": 99.0, "rank": null, "status": 0, "signal": null}']
    folder.events.write_text("\n".join(lines) + "\n")
    state = glance(folder)
    assert (state.name, state.phase, state.started, state.ended, state.step) == ("long", "done", 5.0, 99.0, 19_999)
    assert state.unreadable == 0


def test_a_run_that_ends_while_it_is_glanced_at_is_not_lost(tmp_path, monkeypatch):
    folder = create(tmp_path, "short")
    folder.events.write_text('{"event": "launch", "time": 5.0, "rank": null, "name": "short"}\n')
    ended = '{"event": "exit", "time": 9.0, "rank": null, "status": 0, "signal": null}\n'

    def ends_now(folder):
        with folder.events.open("a") as file:
            file.write(ended)
        return "Its processes have gone."

    monkeypatch.setattr("nbddp.run.prune.why_lost", ends_now)
    assert glance(folder).phase == "done"


def test_a_glance_sees_an_end_for_which_the_disk_had_no_room(tmp_path, monkeypatch):
    folder = create(tmp_path, "full")
    folder.events.write_text('{"event": "launch", "time": 5.0, "rank": null, "name": "full"}\n')
    monkeypatch.setattr("nbddp.run.prune.why_lost", lambda _: "Its processes have gone.")
    assert glance(folder).phase == "lost"
    folder.reserve.write_text('{"event": "exit", "time": 9.0, "rank": null, "status": 0, "signal": null}\n')
    assert glance(folder).phase == "done"


def test_a_run_is_found_by_its_name_a_part_of_it_its_path_or_as_the_latest(tmp_path, monkeypatch):
    first, second = create(tmp_path, "digits", now=1_700_000_000.0), create(tmp_path, "faces", now=1_700_000_100.0)
    assert find(tmp_path) == second
    assert find(tmp_path, "digits") == find(tmp_path, first.name) == find(tmp_path, str(first.path)) == first
    with pytest.raises(NoSuchRun, match=r"may mean .*digits.*faces"):
        find(tmp_path, "2023")
    with pytest.raises(NoSuchRun, match=r"no run digtis.*digits"):
        find(tmp_path, "digtis")
    with pytest.raises(NoSuchRun, match="no runs in"):
        find(tmp_path / "elsewhere")
    with pytest.raises(NoSuchRun, match="no run in"):
        Run.attach(tmp_path / "nothing")


def test_a_damaged_supervisor_file_is_nobody(tmp_path):
    folder = create(tmp_path, "a")
    for text in ("", "{", "[]", "3", '{"pid": "1"}', '{"pid": "x", "started": 1, "boot": 2, "host": 3}'):
        folder.supervisor.write_text(text)
        assert leader_of(folder) is None
