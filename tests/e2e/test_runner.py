"""The runner, with a script written by hand: it agrees with the oracle, and a script that fails is found out."""

from __future__ import annotations

import pytest

from tests.e2e.compare import compare
from tests.e2e.expectation import HERE
from tests.e2e.oracle import oracle_of
from tests.e2e.outcome import RunFailed
from tests.e2e.runner import run_script

PLAIN = HERE / "notebooks" / "plain_loop.py"
BY_HAND = (HERE / "scripts" / "plain_loop_ddp.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("nproc", [pytest.param(1, marks=pytest.mark.thorough), 3])
def test_a_script_written_by_hand_agrees_with_the_oracle(nproc: int) -> None:
    run = run_script(BY_HAND, "plain_loop_ddp.py", nproc)
    assert compare(oracle_of(PLAIN), run) == []
    assert run.ranks == nproc
    assert run.values["running_loss"][""].item() < 0.2


def test_ranks_that_do_not_synchronise_are_found() -> None:
    bypassed = BY_HAND.replace("F.cross_entropy(model(x), y)", "F.cross_entropy(net(x), y)")
    found = compare(oracle_of(PLAIN), run_script(bypassed, "bypass_ddp.py", 2, forked=True))
    assert any(text.startswith("model model: fc1.weight deviates") for text in found)
    assert any("printed 'Epoch [" in text for text in found)  # of both ranks, in any order


def test_a_rank_that_raises_fails_the_run() -> None:
    failing = BY_HAND.replace("running_loss = 0.0", "running_loss = 0.0 if rank == 0 else 1 / 0")
    with pytest.raises(RunFailed, match="ZeroDivisionError"):
        run_script(failing, "failing_ddp.py", 2, forked=True)


def test_a_script_that_hangs_is_ended_with_its_ranks() -> None:
    endless = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    with pytest.raises(RunFailed, match="still running after 2 s"):
        run_script(endless, "endless.py", 1, seconds=2.0)


def test_a_process_left_behind_fails_the_run() -> None:
    leaving = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    with pytest.raises(RunFailed, match=r"left processes \[\d+\] behind"):
        run_script(leaving, "leaving.py", 1)
