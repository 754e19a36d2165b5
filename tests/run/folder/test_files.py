"""Files of a run's folder are regular files in it, or are not read."""

from __future__ import annotations

import os

import pytest

from nbddp.run.folder.files import is_there, opened, text_of
from nbddp.run.folder.folders import create
from nbddp.run.prune import glance
from nbddp.run.run import Run
from nbddp.run.state.events import append

KINDS = ("link", "linked folder", "pipe", "folder", "device")


@pytest.fixture
def folder(tmp_path):
    return create(tmp_path / "root", "digits")


def replaced(path, kind, outside):
    """In place of this file something else, behind which there may be another file."""
    outside.mkdir()
    there = outside / path.name
    there.write_text("secret")
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to(there)
    elif kind == "linked folder":
        path.parent.rename(outside / "before")
        path.parent.symlink_to(outside)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()
    return there


def test_a_regular_file(folder):
    folder.log(0).write_bytes(b"a\xffb")
    assert text_of(folder.log(0)) == "a\ufffdb"
    assert is_there(folder.log(0))
    assert not is_there(folder.log(1))


@pytest.mark.parametrize("kind", KINDS)
def test_anything_else_is_not_opened(folder, tmp_path, kind):
    there = replaced(folder.log(0), kind, tmp_path / "outside")
    assert not is_there(folder.log(0))
    for flags in (os.O_RDONLY, os.O_WRONLY | os.O_APPEND | os.O_CREAT):
        with pytest.raises(OSError):  # noqa: PT011 -- which one differs between systems
            os.close(opened(folder.log(0), flags))
    assert there.read_text() == "secret"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "linked folder"])
@pytest.mark.parametrize("name", ["events", "reserve", "supervisor", "command", "line_map", "script"])
def test_a_run_with_such_a_file_is_looked_at_all_the_same(folder, tmp_path, name, kind):
    there = replaced(getattr(folder, name), kind, tmp_path / "outside")
    run = Run.attach(folder)
    assert run.state.phase == glance(folder).phase == "starting"
    assert run.processes() == run.stop("kill") == []
    append(folder, "stopping", grade="kill")
    assert there.read_text() == "secret"
