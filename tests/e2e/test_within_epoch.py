"""A script that stops in the middle of an epoch and goes on at its next batch ends as one that did not stop."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import nbddp
from nbddp.notebook import notebook_from_percent
from nbddp.options import Options
from tests.e2e.claims import training
from tests.e2e.outcome import RunFailed
from tests.e2e.process import environment
from tests.e2e.test_resume import NOTEBOOK, by_hand

BATCHES = NOTEBOOK.replace("for x, y in train_loader:", "for i, (x, y) in enumerate(train_loader):").replace(
    "        total += loss.item()\n",
    "        total += loss.item()\n        seen.append(round(loss.item(), 6))\n        print(i, flush=True)\n",
).replace("total = 0.0", "total, seen = 0.0, []").replace("of {len(history)}", "{seen[:20]}")  # fmt: skip
DIES = """            if epoch == 1 and i == 13 and "DIE" in os.environ:
                os._exit(7)
            print(i, flush=True)
"""


def script_of(notebook: str) -> str:
    """It dies where it is told to."""
    text = nbddp.export(notebook_from_percent(notebook, "stopped.py"), Options(checkpoints=True)).text
    assert text.count("            print(i, flush=True)\n") == 1
    return text.replace("            print(i, flush=True)\n", DIES)


def noisy() -> str:
    """With dropout, for which each rank draws numbers of its own."""
    return script_of(BATCHES.replace("nn.ReLU()", "nn.ReLU(), nn.Dropout(0.1)"))


def test_it_goes_on_at_the_next_batch(tmp_path: Path, proved) -> None:
    proved(training("within an epoch", noisy(), 2), lambda: goes_on_at_the_next_batch(tmp_path, noisy()))


def goes_on_at_the_next_batch(folder: Path, script: str) -> None:
    whole = by_hand(folder / "whole", script, "--epochs", "2")
    with pytest.raises(RunFailed):
        by_hand(folder / "cut", script, "--epochs", "2", "--checkpoint-every", "5", DIE="1")
    saved = torch.load(folder / "cut" / "own_ddp.pt", weights_only=False)
    assert (saved["epoch"], saved["batches"], len(saved["ranks"])) == (1, 10, 2)
    assert by_hand(folder / "cut", script, "--epochs", "2", "--resume", "auto") == whole[25 + 10 :]


def test_it_goes_on_with_fewer_processes(tmp_path: Path, proved) -> None:
    script = script_of(BATCHES)
    proved(training("within an epoch, with fewer", script, 2), lambda: goes_on_with_fewer(tmp_path, script))


def goes_on_with_fewer(folder: Path, script: str) -> None:
    """Its weights are those of the one that went through; and so is what its batches added up."""
    whole = by_hand(folder / "whole", script, "--epochs", "2")
    with pytest.raises(RunFailed):
        by_hand(folder / "cut", script, "--epochs", "2", "--checkpoint-every", "5", DIE="1")
    rest = by_hand(folder / "cut", script, "--epochs", "2", "--resume", "auto", "--nproc", "1")
    assert rest[:14] == [str(number) for number in range(10, 24)]
    torch.testing.assert_close(numbers(rest[-1]), numbers(whole[-1]), rtol=0, atol=3e-6)
    mine, theirs = (torch.load(folder / name / "own_ddp.pt", weights_only=False) for name in ("cut", "whole"))
    for key, weights in theirs["model"].items():
        torch.testing.assert_close(mine["model"][key], weights, rtol=0, atol=1e-6)


def numbers(line: str) -> torch.Tensor:
    return torch.tensor([float(text) for text in re.findall(r"\d+\.\d+", line)])


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGUSR1, marks=pytest.mark.thorough)])
def test_a_signal_ends_it_with_a_checkpoint(tmp_path: Path, number: signal.Signals, proved) -> None:
    script = noisy()
    name = f"ended by {number.name}"
    proved(training(name, script, 2), lambda: is_ended_by_a_signal(tmp_path, script, number))


def is_ended_by_a_signal(folder: Path, script: str, number: signal.Signals) -> None:
    """As soon as it has begun; its status says by which, and what it has done is not done again."""
    whole = by_hand(folder / "whole", script, "--epochs", "2")
    cut = folder / "cut"
    cut.mkdir()
    (cut / "own_ddp.py").write_text(script)
    command = [sys.executable, "own_ddp.py", "--epochs", "2000"]
    with subprocess.Popen(command, cwd=cut, env=environment({}), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        done = [process.stdout.readline().strip() for _ in range(3)]
        process.send_signal(number)
        done += process.stdout.read().splitlines()
        assert process.wait() == 128 + number
    stopped = len(done)
    assert done[: len(whole)] == whole[:stopped]
    if stopped < len(whole):  # on a machine that was not too busy to hear of it
        assert by_hand(cut, script, "--epochs", "2", "--resume", "auto") == whole[stopped:]
