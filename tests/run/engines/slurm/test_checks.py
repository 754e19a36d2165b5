"""What is said before a job is submitted."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from nbddp.run.engines.slurm.checks import COMMANDS, Cluster, look, mounts, unseen, unseen_or_too_much, with_defaults
from nbddp.run.engines.slurm.partitions import Partition
from nbddp.run.engines.slurm.site import Site
from nbddp.run.start.command import JobOptions, RunOptions

CLUSTER = Cluster(
    {"cpu": Partition("cpu", 10, 64, 0, default=True), "gpu": Partition("gpu", 4, 32, 8)}, frozenset({"n1", "n2"})
)


def found(nproc=2, **job):
    options = RunOptions(nproc=nproc, job=JobOptions(**job))
    return list(unseen_or_too_much(Path("/home"), options, Site(shared=("/",)), CLUSTER))


def test_what_fits_gets_no_word():
    assert found(8, nodes=4, partition="gpu", gpus=8) == []
    assert found(64, nodes=10) == []
    assert found(8, nodes=10, partition="cpu,gpu") == []  # sbatch knows more of two


@pytest.mark.parametrize(
    ("nproc", "job", "words"),
    [
        (2, {"partition": "gpus"}, "There is no partition gpus (did you mean gpu?): there are cpu, gpu."),
        (2, {"nodes": 5, "partition": "gpu"}, "--nodes 5: partition gpu has 4."),
        (16, {"gpus": 16, "partition": "gpu"}, "16 GPUs on each node: no node of partition gpu has more than 8."),
        (1, {"gpus": 1}, "1 GPUs on each node: no node of partition cpu has any."),
        (65, {}, "--nproc 65: no node of partition cpu has more than 64 CPUs."),
    ],
)
def test_too_much(nproc, job, words):
    assert found(nproc, **job) == [words]


def test_gpus_are_not_chosen_from_here():
    options = RunOptions(nproc=1, devices=(0,), job=JobOptions())
    (said,) = unseen_or_too_much(Path("/home"), options, Site(shared=("/",)), CLUSTER)
    assert said.startswith("--devices is for this machine")


def test_a_process_for_each_gpu_of_a_node():
    options = with_defaults(RunOptions(job=JobOptions(partition="gpu")), CLUSTER)
    assert (options.nproc, options.job.gpus) == (8, 8)
    options = with_defaults(RunOptions(nproc=4, job=JobOptions(partition="gpu")), CLUSTER)
    assert (options.nproc, options.job.gpus) == (4, 4)


@pytest.mark.parametrize("job", [{"gpus": 0}, {"words": ("--gres=gpu:a100:2",)}])
def test_who_asks_for_gpus_in_his_own_words_gets_those(job):
    options = with_defaults(RunOptions(nproc=4, job=JobOptions(partition="gpu", **job)), CLUSTER)
    assert options.job.gpus == job.get("gpus")


def test_without_gpus_two_processes():
    assert with_defaults(RunOptions(job=JobOptions()), CLUSTER).nproc == 2


def kinds(root, kind, shared=(), here="login", nodes=frozenset({"n1"})):
    return list(unseen(Path(root), shared, nodes, here, {Path("/"): "ext4", Path("/w"): kind}))


def test_folders_that_nodes_see_as_far_as_one_can_tell():
    assert kinds("/w/x", "nfs4") == kinds("/w", "lustre") == kinds("/w", "fuse.sshfs") == []
    assert kinds("/w/x", "ext4", here="n1") == kinds("/w/x", "ext4", here="n1.cluster") == []
    assert kinds("/w/x", "xfs", shared=("/w",)) == []


def test_memory_is_seen_by_nobody_else():
    (said,) = kinds("/w/x", "tmpfs", here="n1")
    assert said.startswith("/w/x is in the memory of n1 (tmpfs), which no node sees")


def test_a_disk_of_a_machine_that_is_no_node():
    (said,) = kinds("/w/x", "xfs")
    assert said.startswith("/w/x is on a disk of login (xfs), which is no node of the cluster")
    (said,) = kinds("/elsewhere", "nfs")
    assert "ext4" in said


def test_mounts_are_read_with_their_spaces(tmp_path):
    file = tmp_path / "mountinfo"
    file.write_text("36 35 98:0 / /my\\040disk rw,noatime shared:1 - ext3 /dev/root rw\nrubbish\n")
    assert mounts(file) == {Path("/my disk"): "ext3"}
    assert mounts(tmp_path / "none") == {}


def test_without_slurm_there_is_a_sentence(tmp_path):
    cluster, said = look(str(tmp_path))
    assert cluster is None
    assert said.startswith("There is no SLURM here: sbatch, scontrol, scancel, sinfo are not on the PATH")


def test_a_controller_that_does_not_answer_is_given_nothing(tmp_path, monkeypatch):
    for name in COMMANDS:
        (tmp_path / name).write_text(
            "#!/bin/sh\necho 'slurm_load_partitions: Unable to contact slurm controller.' >&2; exit 1\n"
        )
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    cluster, said = look()
    assert cluster is None
    assert said.startswith(
        "SLURM's controller does not answer, so nothing was submitted: slurm_load_partitions: Unable"
    )


def test_a_word_too_many_is_one_sentence_each():
    options = RunOptions(nproc=2, devices=(0,), job=JobOptions(partition="x"))
    assert len(list(unseen_or_too_much(Path("/home"), options, Site(shared=("/",)), replace(CLUSTER)))) == 2
