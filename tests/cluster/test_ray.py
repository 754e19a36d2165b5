"""Runs as Ray jobs on a cluster of two machines, as their users see them.

They want Ray's own Python: the one that runs the tests, if it has ray, or that of the variable RAY_PYTHON.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.conftest import Cluster, events
from tests.cluster.test_slurm import LINE, end, log, own
from tests.magics.kernel import Kernel

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("cluster")]

PYTHON = os.environ.get("RAY_PYTHON", sys.executable)
AT = "10.77.0.1:8265"
RUN = (PYTHON, "-m", "nbddp", "run", "long.py", "--on", f"ray:{AT}", "--nodes", "2", "--nproc", "2")
PATIENT = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "240", "RAY_raylet_start_timeout_s": "240"}
OWN = ("--num-cpus", "2", "--object-store-memory", "100000000", "--disable-usage-stats")


def start_machine(cluster: Cluster, folder: Path, machine: str) -> None:
    head = ("--head", "--port", "6379", "--node-ip-address", "10.77.0.1", "--include-dashboard", "true",
            "--dashboard-host", "0.0.0.0", "--temp-dir", str(folder))  # fmt: skip
    worker = ("--address", "10.77.0.1:6379", "--node-ip-address", "10.77.0.2")
    words = (str(Path(PYTHON).with_name("ray")), "start", *(head if machine == "nbA" else worker), *OWN)
    process = cluster.start(*words, cwd=folder, machine=machine, **PATIENT)
    text, _ = process.communicate(timeout=300)
    assert process.returncode == 0, text


@pytest.fixture(scope="module")
def ray(cluster: Cluster) -> Iterator[Path]:
    if subprocess.run([PYTHON, "-c", "import ray.dashboard.modules.job"], capture_output=True, check=False).returncode:
        pytest.skip("needs ray[default], in this Python or in that of RAY_PYTHON")
    with tempfile.TemporaryDirectory(prefix="nbddp-ray-", ignore_cleanup_errors=True) as folder:
        for machine in ("nbA", "nbB"):
            start_machine(cluster, Path(folder), machine)
        yield Path(folder)
        for machine in ("nbA", "nbB"):
            kill(cluster, Path(folder), machine)


def kill(cluster: Cluster, folder: Path, machine: str) -> None:
    """All of Ray there, and what it has started, at once."""
    for pid in cluster.call("ip", "netns", "pids", machine, cwd=folder)[1].split():
        words = command(pid)
        if any(name in words for name in (b"/ray/", b"ray::", b"long.py", b"script.py", b"nbddp.run.engines.ray")):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def command(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def ranks_left(cluster: Cluster, place: Path) -> list[str]:
    """Processes of the run, on both machines."""
    found = [cluster.call("ip", "netns", "pids", name, cwd=place)[1].split() for name in ("nbA", "nbB")]
    return [pid for pids in found for pid in pids if str(place).encode() in command(pid)]


def test_the_same_digits_as_on_one_machine(cluster, ray, place):
    status, there = cluster.call(*RUN, "--", *own(3)[2:], cwd=place)
    assert status == 0, there
    assert {event["rank"]: event["host"] for event in events(place, "rank")} == {0: "nbA", 1: "nbA", 2: "nbB", 3: "nbB"}
    assert "queued as job nbddp-" in there
    words = ("-m", "nbddp", "run", "long.py", "--nproc", "4", "--", "--epochs", "3", "--pause", "0.05")
    _, here = cluster.call(PYTHON, *words, cwd=place)
    assert LINE.findall(there) == LINE.findall(here) != []
    cluster.until(lambda: not ranks_left(cluster, place), 30.0)


def test_a_cell_trains_there_and_the_result_comes_back(cluster, ray, place):
    kernel = Kernel(place, around=cluster.words(), python=PYTHON)
    try:
        cells = (place / "long.py").read_text().split("# %%")[1:]
        for cell in cells[:3]:
            assert kernel.run(cell.partition("\n")[2]).status == "ok"
        kernel.run("%load_ext nbddp\nepochs, pause = 3, 0.05\nbefore = model[0].weight.clone()")
        body = cells[3].partition("\n")[2]
        reply = kernel.run(f"%%ddp_train --on ray:{AT} --nodes 2 --nproc 2\n{body}", timeout=300)
        assert reply.status == "ok", reply.error
        assert kernel.value("run.state.phase, len(run.history), len(losses)") == "done 3 3"
        assert kernel.value("bool((before == model[0].weight).all())") == "False"
        assert kernel.value("sorted({rank.host for rank in run.state.ranks.values()})") == "['nbA', 'nbB']"
    finally:
        kernel.end()


@pytest.mark.parametrize(("grade", "phase"), [("epoch", "stopped"), ("now", "stopped"), ("kill", "killed")])
def test_stopped_in_three_grades(cluster, ray, place, grade, phase):
    process = cluster.start(*RUN, "--", *own(99, 0.1)[2:], cwd=place)
    cluster.until(lambda: "epoch 1" in log(place))
    assert cluster.call(PYTHON, "-m", "nbddp", "stop", "--grade", grade, cwd=place)[0] == 0
    _, text = end(process)
    assert f"· {phase} ·" in text
    assert bool(list(place.glob(".nbddp/runs/*/result.pt"))) is (grade == "epoch")
    assert list(place.glob(".nbddp/runs/*/checkpoint.pt"))
    cluster.until(lambda: not ranks_left(cluster, place), 30.0)


def test_stopped_while_it_waits_for_room(cluster, ray, place):
    process = cluster.start(*RUN[:-1], "64", cwd=place)
    cluster.until(lambda: events(place, "warning"))
    assert "has no 2 machines with 64 CPUs" in str(events(place, "warning")[0]["message"])
    assert "queued" in cluster.call(PYTHON, "-m", "nbddp", "runs", cwd=place)[1]
    assert "has ended" in cluster.call(PYTHON, "-m", "nbddp", "stop", cwd=place)[1]
    assert "· stopped ·" in end(process)[1]


def test_attached_to_from_the_other_machine_after_its_starter_has_gone(cluster, ray, place):
    status, text = cluster.call(*RUN, "--background", "--", *own(4)[2:], cwd=place)
    assert status == 0, text
    assert "is queued; see it with" in text
    status, text = end(cluster.start(PYTHON, "-m", "nbddp", "attach", cwd=place, machine="nbB"))
    assert status == 0, text
    assert len(LINE.findall(text)) == 4


def test_a_rank_that_fails_is_named(cluster, ray, place):
    text = (place / "long.py").read_text().replace("    losses.append", "    1 / (epoch - 1)\n    losses.append")
    (place / "long.py").write_text(text)
    status, text = cluster.call(*RUN, "--", *own(4)[2:], cwd=place)
    assert status != 0
    assert "ZeroDivisionError" in text
    assert re.search(r"cell \d+", text)


def test_a_machine_that_is_lost_ends_it_with_what_to_do(cluster, ray, place):
    process = cluster.start(*RUN, "--", *own(99, 0.1)[2:], cwd=place)
    cluster.until(lambda: "epoch 1" in log(place))
    kill(cluster, ray, "nbB")
    status, text = end(process)
    assert status != 0
    assert "A machine of the Ray cluster was lost (nbB)" in text
    assert "--resume" in text
    cluster.until(lambda: not ranks_left(cluster, place), 60.0)
    start_machine(cluster, ray, "nbB")
    (name,) = (path.name for path in place.glob(".nbddp/runs/*"))
    status, text = cluster.call(*RUN, "--resume", name, "--", *own(4)[2:], cwd=place)
    assert status == 0, text


def test_what_cannot_be_is_said_before_it_is_given_away(cluster, ray, place):
    for words, said in (
        (("--on", "ray:10.77.0.1:9", "--nproc", "2"), "No Ray cluster answers at http://10.77.0.1:9"),
        (("--on", f"ray:{AT}"), "--on ray needs --nproc"),
        (("--on", f"ray:{AT}", "--nproc", "2", "--partition", "x"), "--partition is for SLURM"),
        (("--on", "rai", "--nproc", "2"), "there is no engine 'rai' (did you mean 'ray'?)"),
    ):
        status, text = cluster.call(PYTHON, "-m", "nbddp", "run", "long.py", *words, cwd=place)
        assert status != 0
        assert said in text
    assert not list(place.glob(".nbddp/runs/*"))
