"""Two machines on one host, with a real SLURM: network namespaces, a controller and two nodes (`make cluster`)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NEEDED = ("ip", "unshare", "munged", "slurmctld", "slurmd", "sbatch")
NOTEBOOK = HERE / "long.py"


def why_not() -> str:
    """Why there can be no such machines here."""
    if os.name != "posix" or os.geteuid() != 0:
        return "needs root, for network namespaces"
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        return f"needs {', '.join(missing)}: apt-get install slurm-wlm munge iproute2"
    tried = subprocess.run(["ip", "netns", "add", "nbddp-try"], capture_output=True, text=True, check=False)
    subprocess.run(["ip", "netns", "del", "nbddp-try"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else f"no network namespaces here: {tried.stderr.strip()}"


@dataclass(frozen=True)
class Cluster:
    """Commands run on the machine nbA, which is a node and has the controller."""

    folder: Path

    def words(self, *words: str, machine: str = "nbA") -> list[str]:
        conf = f"SLURM_CONF={self.folder / 'slurm.conf'}"
        return ["bash", str(HERE / "machines.sh"), "on", machine, "env", conf, *words]

    def start(self, *words: str, cwd: Path, machine: str = "nbA", **more: str) -> subprocess.Popen[str]:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path, "OMP_NUM_THREADS": "1", **more}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            self.words(*words, machine=machine), cwd=cwd, env=environ, text=True, stdout=pipe, stderr=subprocess.STDOUT
        )

    def call(self, *words: str, cwd: Path, **more: str) -> tuple[int, str]:
        """Status, and all that was printed."""
        process = self.start(*words, cwd=cwd, **more)
        text, _ = process.communicate(timeout=400)
        return process.returncode, text

    def until(self, done: Callable[[], object], seconds: float = 300.0) -> None:
        """Until something outside of this process has happened, of which nobody tells."""
        limit = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < limit, "it has not happened"
            time.sleep(0.2)


@contextmanager
def two_machines() -> Iterator[Cluster]:
    """From the first to the last of their processes."""
    folder = Path(tempfile.mkdtemp(prefix="nbddp-slurm-"))
    environ = {**os.environ, "DIR": str(folder), "CPUS": "8"}

    def shell(script: str, verb: str, *, check: bool = True) -> None:
        subprocess.run(["bash", str(HERE / script), verb], env=environ, check=check, stdout=subprocess.DEVNULL)

    try:
        shell("machines.sh", "up")
        shell("slurm.sh", "up")
        found = Cluster(folder)
        found.until(lambda: "idle" in found.call("sinfo", cwd=folder)[1], 60.0)
        yield found
    finally:
        shell("slurm.sh", "down", check=False)
        shell("machines.sh", "down", check=False)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if why := why_not():
        pytest.skip(why)
    with two_machines() as found:
        yield found


@pytest.fixture
def place(cluster: Cluster, tmp_path: Path) -> Iterator[Path]:
    """A folder with the notebook, which both machines see; none of its jobs stays behind."""
    shutil.copy(NOTEBOOK, tmp_path)
    yield tmp_path
    cluster.call("scancel", "--me", cwd=tmp_path)
    cluster.until(lambda: cluster.call("squeue", "--noheader", cwd=tmp_path)[1] == "", 120.0)


def events(place: Path, name: str = "") -> list[dict[str, object]]:
    """Of the only run there, in the order of time; of one name, if it is given."""
    lines = [line for file in place.glob(".nbddp/runs/*/events*.jsonl") for line in file.read_text().splitlines()]
    found = sorted((json.loads(line) for line in lines), key=lambda event: event["time"])
    return [event for event in found if not name or event["event"] == name]
