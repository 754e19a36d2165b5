"""One machine or two, as they come and go: `torchrun --nnodes 1:2` with a script that writes its own checkpoints."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cluster.conftest import Cluster
from tests.e2e.test_resume import NOTEBOOK

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("cluster")]

EPOCHS = 20
# Four digits: those that two processes and four have in common. Slow enough for something to happen in an epoch.
DIGITS = NOTEBOOK.replace(":.6f}", ":.4f}").replace("    for x, y", "    time.sleep(1)\n    for x, y").replace(
    "import torch\n", "import time\n\nimport torch\n", 1
)  # fmt: skip
LINE = re.compile(r"^(epoch \d+): (.*)$", re.MULTILINE)
WORDS = ("--nnodes", "1:2", "--nproc-per-node", "2", "--max-restarts", "3", "--rdzv-backend", "c10d", "--rdzv-endpoint",
         "nbA:29410", "--rdzv-id", "elastic", "--rdzv-conf", "last_call_timeout=5,join_timeout=300")  # fmt: skip


class Machines:
    """Both of them, at the same training."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        (folder / "digits.py").write_text(DIGITS)
        status, text = cluster.call("python", "-m", "nbddp", "export", "digits.py", "--checkpoints", cwd=folder)
        assert status == 0, text
        self.started: list[subprocess.Popen[str]] = []
        self.texts = [folder / "nbA.txt", folder / "nbB.txt"]
        for machine in ("nbA", "nbB"):
            self.start(machine)

    def start(self, machine: str) -> None:
        words = f"exec torchrun {' '.join(WORDS)} digits_ddp.py --epochs {EPOCHS} >> {machine}.txt 2>&1"
        more = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1", "PYTHONPATH": "", "PYTHONUNBUFFERED": "1"}
        self.started.append(self.cluster.start("sh", "-c", words, cwd=self.folder, machine=machine, **more))

    def printed(self) -> str:
        return "".join(path.read_text() for path in self.texts if path.exists())

    def digits(self) -> dict[str, set[str]]:
        """What each epoch has printed, in all its attempts."""
        found: dict[str, set[str]] = {}
        for epoch, text in LINE.findall(self.printed()):
            found.setdefault(epoch, set()).add(text)
        return found

    def until_epoch(self, number: int) -> None:
        self.cluster.until(lambda: f"epoch {number}" in self.digits(), 400.0)

    def on(self, machine: str) -> list[int]:
        """Of this training, the agent first."""
        pids = self.cluster.call("ip", "netns", "pids", machine, cwd=self.folder)[1].split()
        return sorted(int(pid) for pid in pids if self._is_here(pid))

    def _is_here(self, pid: str) -> bool:
        try:
            return Path(f"/proc/{pid}/cwd").readlink() == self.folder
        except OSError:
            return False

    def ranks(self, machine: str) -> list[int]:
        return [pid for pid in self.on(machine) if b"digits_ddp.py" in command(pid) and b"torchrun" not in command(pid)]

    def end(self) -> dict[str, set[str]]:
        """When what is left of them has done it all."""
        self.started[0].communicate(timeout=500)
        assert self.started[0].returncode == 0, self.printed()[-3000:]
        self.started[-1].communicate(timeout=100)
        return self.digits()


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def machines(cluster, tmp_path):
    found = Machines(cluster, tmp_path)
    yield found
    for machine in ("nbA", "nbB"):
        for pid in found.on(machine):
            os.kill(pid, signal.SIGKILL)
    for process in found.started:
        process.communicate(timeout=60)


def undisturbed(machines: Machines) -> dict[str, set[str]]:
    words = ("python", "digits_ddp.py", "--nproc", "4", "--epochs", str(EPOCHS), "--checkpoint", "other.pt")
    _, text = machines.cluster.call(*words, cwd=machines.folder)
    return {epoch: {line} for epoch, line in LINE.findall(text)}


def test_a_rank_that_is_lost_is_started_again(machines):
    machines.until_epoch(3)
    os.kill(machines.ranks("nbB")[-1], signal.SIGKILL)
    assert machines.end() == undisturbed(machines)
    assert "continuing from" in machines.printed()


def test_a_node_that_is_lost_is_done_without_and_taken_in_when_it_comes_back(machines):
    machines.until_epoch(2)
    for pid in machines.on("nbB"):
        os.kill(pid, signal.SIGKILL)
    alone = len(machines.digits()) + 2
    machines.until_epoch(alone)
    assert len(machines.ranks("nbA")) == 2
    machines.start("nbB")
    machines.cluster.until(lambda: len(machines.ranks("nbB")) == 2, 200.0)
    machines.until_epoch(len(machines.digits()) + 1)
    assert len(machines.ranks("nbB")) == 2, "it trains, and not at its beginning"
    assert machines.end() == undisturbed(machines)
    assert machines.printed().count("continuing from") >= 2
