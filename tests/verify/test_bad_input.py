"""What cannot be compared is said in one sentence, and nothing of the user's is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from nbddp.run.folder.errors import CannotVerify
from nbddp.verify import verify

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
NOTEBOOK = """\
# %%
import time
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
xs = torch.randn(60, 4)
ys = xs.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(xs, ys), batch_size=10, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
# %% tags=["ddp-train"]
for epoch in range(3):
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
    torch.save(model.state_dict(), "best.pt")
"""


def notebook(*changes: tuple[str, str]) -> Path:
    text = NOTEBOOK
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path = Path("x.py")
    path.write_text(text)
    return path


def test_files_of_the_user_stay_as_they_are_and_none_are_left(helper):
    path = notebook(("optimizer.step()\n    print", "optimizer.step()\n    open('log.txt', 'a').write('x')\n    print"))
    Path("best.pt").write_bytes(b"weeks of training")
    report = verify(path, helper=helper)
    assert report.verdict == "same", report
    assert Path("best.pt").read_bytes() == b"weeks of training"
    assert sorted(os.listdir()) == ["best.pt", "x.py"]


def test_a_training_shorter_than_the_steps_asked_for_is_compared_as_far_as_it_goes(helper):
    report = verify(notebook(("range(3)", "range(1)")), helper=helper)
    assert report.verdict == "same", report
    assert len(report.rows) == 6
    assert any("has 6 steps, fewer than the requested 20" in note for note in report.notes)


def test_a_notebook_that_does_not_do_the_same_twice(helper):
    path = notebook(
        ("model = nn", "noise = np.random.default_rng()\nmodel = nn"),
        ("loss = (model(x)", "x = x + float(noise.normal())\n        loss = (model(x)"),
    )
    with pytest.raises(
        CannotVerify, match=r"(?s)two runs on one process differ.*takes its seed from the clock"
    ) as said:
        verify(path, helper=helper)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param(
            [("    for x, y", "    if len(xs) == 60:\n        raise torch.OutOfMemoryError('no room')\n    for x, y")],
            "memory ran out",
            id="memory",
        ),
        pytest.param(
            [("    for x, y", "    if len(xs) == 60:\n        raise KeyError('no')\n    for x, y")],
            "notebook itself fails on one process",
            id="fails",
        ),
        pytest.param(
            [
                (
                    "        optimizer.step()\n",
                    "        with torch.no_grad():\n            model.weight -= model.weight.grad\n",
                ),
                ("optimizer = torch.optim.SGD(model.parameters(), lr=0.05)\n", ""),
                ("optimizer.zero_grad()", "model.zero_grad()"),
            ],
            "takes no step of a torch optimizer",
            id="no optimizer",
        ),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_sentence(changes, sentence, helper):
    with pytest.raises(CannotVerify, match=sentence) as said:
        verify(notebook(*changes), helper=helper)
    assert "\n" not in str(said.value)


def test_one_process_is_none_to_compare_with():
    with pytest.raises(CannotVerify, match="two or more"):
        verify(notebook(), nproc=1)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_verification_leaves_no_process(how, tmp_path):
    path = notebook(("        optimizer.step()\n", "        optimizer.step()\n        time.sleep(0.5)\n"))
    room = tmp_path / "room"
    room.mkdir()
    environment = {**os.environ, "TMPDIR": str(room), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "nbddp", "verify", str(path)]
    with Path("out.txt").open("w") as out:
        asked = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
    _until(lambda: list(room.glob("**/trace1.jsonl")), asked)
    asked.send_signal(how)
    status = asked.wait(60)
    assert status == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[how]
    _until(lambda: not _started_in(room))
    if how is not signal.SIGKILL:
        assert not list(room.glob("nbddp-verify-*"))


def _until(condition, process: subprocess.Popen | None = None) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None, Path("out.txt").read_text()
        time.sleep(0.1)


def _started_in(room: Path) -> list[psutil.Process]:
    """Processes whose temporary folder this is."""
    return [process for process in psutil.process_iter() if _room_of(process) == str(room)]


def _room_of(process: psutil.Process) -> str | None:
    try:
        dead = process.status() == psutil.STATUS_ZOMBIE
        return None if dead else process.environ().get("TMPDIR")
    except psutil.Error:
        return None
