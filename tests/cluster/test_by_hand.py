"""Exported scripts on two machines without nbddp: torchrun as docs/clusters.md has it, and the file for sbatch."""

from __future__ import annotations

import re

import pytest

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("cluster")]

LINE = re.compile(r"^epoch \d+: loss .*$", re.MULTILINE)


def test_torchrun_on_two_machines_by_hand(cluster, place):
    status, text = cluster.call("python", "-m", "nbddp", "export", "long.py", cwd=place)
    assert status == 0, text
    rendezvous = ("--rdzv-backend", "c10d", "--rdzv-endpoint", "nbA:29400", "--rdzv-id", "x")
    words = ("torchrun", "--nnodes", "2", "--nproc-per-node", "2", *rendezvous, "long_ddp.py", "--epochs", "2")
    more = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1", "PYTHONPATH": ""}
    machines = [cluster.start(*words, cwd=place, machine=name, **more) for name in ("nbA", "nbB")]
    printed = [machine.communicate(timeout=300)[0] for machine in machines]
    assert [machine.returncode for machine in machines] == [0, 0], printed
    assert sorted(len(LINE.findall(text)) for text in printed) == [0, 2]


def test_the_file_for_sbatch_goes_on_after_preemption(cluster, place):
    words = ("--nodes", "2", "--nproc", "2", "--gpus", "0", "--partition", "low")
    status, text = cluster.call("python", "-m", "nbddp", "export", "long.py", "--sbatch", *words, cwd=place)
    assert status == 0, text
    number = cluster.call("sbatch", "--parsable", "long_ddp.sbatch", cwd=place, PYTHONPATH="")[1].strip()
    output = place / f"long_ddp-{number}.out"

    def epochs() -> list[str]:
        return [line.split(":")[0] for line in LINE.findall(output.read_text())] if output.exists() else []

    cluster.until(lambda: "epoch 2" in epochs())
    cluster.call("sbatch", "--partition=high", "--nodes=2", "--ntasks-per-node=8", "--wrap", "sleep 3", cwd=place)
    cluster.until(lambda: "Restarts=1" in cluster.call("scontrol", "show", "job", number, cwd=place)[1])
    cluster.until(lambda: "JobState=COMPLETED" in cluster.call("scontrol", "show", "job", number, cwd=place)[1], 400.0)
    assert list(dict.fromkeys(epochs())) == [f"epoch {number}" for number in range(10)]
    assert len(epochs()) <= 11  # the epoch that it was in is trained again, and no other
