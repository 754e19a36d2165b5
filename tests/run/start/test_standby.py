"""Processes that wait for a run nobody has asked for yet: they serve it, and they never stay behind."""

import os
import signal
import sys

import pytest

from nbddp.run.processes.process import PROC, look_up, snapshot
from nbddp.run.run import Run
from nbddp.run.start.warm import WarmHelper
from tests.run.conftest import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a warm start needs Linux")
MARK = f"nothing{os.getpid()}"  # by which its processes can be told from all others
SPAWNS = """
import os, torch.multiprocessing as mp
def work(rank):
    print(f"rank {rank} {os.getpid()}\\n", end="", flush=True)  # at one go, as the ranks print at once
if __name__ == "__main__":
    mp.spawn(work, nprocs=3)
    print("main", os.getpid())
"""


@pytest.fixture(scope="module")
def helper():
    started = WarmHelper.start(("torch.multiprocessing", MARK))
    assert started.wait_until_ready(60)
    yield started
    started.close()


def waiting(mark: str = MARK) -> set[int]:
    """The processes of the helper that was asked to import this, without itself: supervisor, script and two ranks."""
    found = set()
    for pid, entry in snapshot().items():
        try:
            words = (PROC / str(pid) / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in words and not entry.dead:
            found.add(pid)
    return found


def over(pid: int) -> bool:
    """Whether a process holds nothing any more. One that dies gives back its memory, and its command with it, first."""
    entry = look_up(pid)
    return entry is None or entry.dead


def all_wait(helper: WarmHelper, mark: str = MARK) -> set[int]:
    until(lambda: len(waiting(mark)) == 5)
    return waiting(mark) - {helper.process.pid}


def test_they_do_the_work_and_a_rank_beyond_them_is_forked(tmp_path, helper):
    before = all_wait(helper)
    run = Run.start(SPAWNS, "spawns", root=tmp_path, helper=helper)
    assert run.wait(60).phase == "done", run.failure
    lines = [line.split() for line in run.folder.stdout.read_text().splitlines()]
    assert sorted(line[1] for line in lines if line[0] == "rank") == ["0", "1", "2"]
    assert len({int(line[-1]) for line in lines} & before) == 3


def test_what_was_killed_meanwhile_is_no_loss(tmp_path, helper):
    for pid in all_wait(helper):
        os.kill(pid, signal.SIGKILL)
    until(lambda: waiting() == {helper.process.pid})
    for start in ("cold", "warm"):  # without a supervisor a run cannot be warm; the next one has another
        run = Run.start("print('x')", "x", root=tmp_path, helper=helper)
        state = run.wait(60)
        assert (state.phase, state.start) == ("done", start), run.failure


def test_a_rank_that_was_killed_meanwhile_is_no_loss(tmp_path, helper):
    *ranks, _ = sorted(all_wait(helper), reverse=True)
    for pid in ranks[:2]:
        os.kill(pid, signal.SIGKILL)
    until(lambda: all(over(pid) for pid in ranks[:2]))
    run = Run.start(SPAWNS, "spawns", root=tmp_path, helper=helper)
    state = run.wait(60)
    assert (state.phase, state.start) == ("done", "warm"), run.failure


def test_none_stays_when_the_helper_is_gone():
    mark = f"{MARK}gone"
    helper = WarmHelper.start((mark,))
    all_wait(helper, mark)
    helper.close()
    until(lambda: not waiting(mark))
