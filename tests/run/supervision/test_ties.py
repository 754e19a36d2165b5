"""A run ends with its folder; with the process that started it, see test_terminal.py."""

from __future__ import annotations

import shutil

import pytest

from nbddp.run.processes.process import ProcessId, alive, identify
from nbddp.run.processes.session import members
from nbddp.run.run import Run
from nbddp.run.supervision.leader import leader_of

SILENT = "import time\nprint('begun', flush=True)\ntime.sleep(60)\n"  # it would not notice by itself


@pytest.fixture
def run(tmp_path, wait_until):
    """The run of a script that does nothing, once it has begun; they are ended whatever has become of it."""
    run = Run.start(SILENT, "x", root=tmp_path)
    wait_until(lambda: run.folder.stdout.exists() and run.folder.stdout.read_text())
    leader = leader_of(run.folder)
    yield run
    for entry in members(leader, run.folder.path):
        run.stop("kill") if run.folder.path.exists() else pytest.fail(f"process {entry.pid} is left")


def living(processes: list[ProcessId]) -> list[ProcessId]:
    return [process for process in processes if alive(process)]


def test_a_deleted_folder_ends_its_processes_at_once(run, wait_until):
    processes = [process for entry in run.processes() if (process := identify(entry.pid))]
    assert len(living(processes)) >= 3
    shutil.rmtree(run.folder.path)
    wait_until(lambda: not living(processes), 3)
    assert (run.state.phase, run.state.lost) == ("lost", "Its folder was deleted.")


def test_a_folder_that_was_moved_is_no_reason_to_end(run, wait_until):
    here, there = run.folder.path, run.folder.path.with_name("elsewhere")
    here.rename(there)
    moved = Run.attach(there)
    assert moved.processes()
    with pytest.raises(AssertionError, match="in time"):
        wait_until(lambda: not moved.processes(), 1)
    there.rename(here)
