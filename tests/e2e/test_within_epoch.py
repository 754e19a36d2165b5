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
from nbddp.export import Script
from nbddp.notebook import notebook_from_percent
from nbddp.options import Options
from tests.e2e.claims import training
from tests.e2e.outcome import RunFailed
from tests.e2e.process import environment
from tests.e2e.runner import run_script
from tests.e2e.test_resume import NOTEBOOK, TRAINER, by_hand

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


METHOD = TRAINER.replace("for x, y in train_loader:", "for i, (x, y) in enumerate(train_loader, 1):").replace(
    "            total += loss.item()\n", "            total += loss.item()\n            print(i, flush=True)\n"
)


@pytest.mark.parametrize(
    ("name", "notebook", "nproc"), [("loop", BATCHES, 2), ("method", METHOD, 2), ("less", METHOD, 1)]
)
def test_a_run_goes_on_there_too(tmp_path: Path, name: str, notebook: str, nproc: int, proved) -> None:
    """Whose script has no line of it."""
    script = nbddp.export(notebook_from_percent(notebook, "watched.py"))
    assert "checkpoint" not in script.text
    claim = training(f"a run within an epoch, {name}", script, nproc)
    proved(claim, lambda: run_goes_on(script, tmp_path / "check.pt", nproc))


def run_goes_on(script: Script, checkpoint: Path, nproc: int) -> None:
    """On as many processes to the last digit."""
    whole = watched(script.text, script, 2)
    place = next(line for line in script.text.splitlines(keepends=True) if "print(i, flush=True)" in line)
    space = place[: len(place) - len(place.lstrip())]
    count = f'{space}os.environ["BATCH"] = str(int(os.environ.get("BATCH", "0")) + 1)\n'
    dies = f'{count}{space}if os.environ["BATCH"] == "38":\n{space}    os._exit(7)\n{place}'
    with pytest.raises(RunFailed):
        watched(script.text.replace(place, dies), script, 2, NBDDP_CHECKPOINT=checkpoint, NBDDP_CHECKPOINT_EVERY="5")
    saved = torch.load(checkpoint, weights_only=True)
    assert (saved["epochs_done"], saved["batches"], len(saved["ranks"])) == (1, 10, 2)
    rest = watched(script.text, script, nproc, NBDDP_RESUME=checkpoint)
    assert len(rest) == len(whole) - 35
    assert rest[:-1] == whole[35:-1]
    torch.testing.assert_close(numbers(rest[-1]), numbers(whole[-1]), rtol=0, atol=0 if nproc == 2 else 2e-4)


def watched(text: str, script: Script, nproc: int, **variables: object) -> list[str]:
    words = {name: str(value) for name, value in variables.items()}
    options = ("--epochs", "2")
    found = run_script(text, "watched_ddp.py", nproc, forked=True, options=options, watch=script.watch, variables=words)
    return list(found.lines)


def test_a_pause_that_is_asked_for_comes_within_an_epoch(tmp_path: Path, proved) -> None:
    script = nbddp.export(notebook_from_percent(BATCHES, "watched.py"))
    proved(training("a pause within an epoch", script, 2), lambda: is_paused(script, tmp_path))


def is_paused(script: Script, folder: Path) -> None:
    """As SLURM asks for one: it ends, and what was done is not done again."""
    pause, checkpoint = folder / "pause", folder / "check.pt"
    whole = watched(script.text, script, 2)
    place = next(line for line in script.text.splitlines(keepends=True) if "print(i, flush=True)" in line)
    space = place[: len(place) - len(place.lstrip())]
    asks = f'{space}open(os.environ["NBDDP_PAUSE"], "w").close()\n{place}'
    wanted = {"NBDDP_CHECKPOINT": checkpoint, "NBDDP_PAUSE": pause}
    with pytest.raises(RunFailed, match="no result"):
        watched(script.text.replace(place, asks), script, 2, **wanted)
    pause.unlink()
    saved = torch.load(checkpoint, weights_only=True)
    done = 25 * saved["epochs_done"] + saved.get("batches", 0)
    assert done < len(whole)
    assert watched(script.text, script, 2, NBDDP_RESUME=checkpoint) == whole[done:]
