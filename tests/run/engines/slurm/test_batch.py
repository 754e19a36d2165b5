"""The text that sbatch is given, as a function of what was asked for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nbddp.run.engines.slurm.batch import Batch, for_run, for_script, head, notice, seconds_of, srun_words
from nbddp.run.folder.folder import RunFolder
from nbddp.run.start.command import Command, JobOptions

JOB = JobOptions(nodes=2, gpus=8, time="2:00:00", partition="gpu", words=("--mem=64G", "--comment=a b"))


def lines(nproc=8, job=JOB, **fields):
    return list(head(Batch("digits", nproc, job, "out-%j", **fields)))


def test_the_head():
    assert lines(folder="/home/ada/my project") == [
        "#SBATCH --job-name=digits",
        "#SBATCH --nodes=2 --ntasks-per-node=8",
        "#SBATCH --gpus-per-node=8",
        "#SBATCH --partition=gpu --time=2:00:00",
        "#SBATCH '--chdir=/home/ada/my project'",
        "#SBATCH --output=out-%j --open-mode=append",
        "#SBATCH --requeue --signal=B:USR1@120",
        "#SBATCH --mem=64G '--comment=a b'",
    ]


def test_what_was_not_asked_for_is_left_to_the_site():
    text = "\n".join(lines(2, JobOptions()))
    assert not any(word in text for word in ("gpus", "partition", "account", "time="))


@pytest.mark.parametrize(
    ("time", "seconds"),
    [("30", 1800), ("1:30", 90), ("2:00:00", 7200), ("1-0", 86400), ("1-12:30", 131400), ("1-0:0:5", 86405)],
)
def test_times_as_sbatch_reads_them(time, seconds):
    assert seconds_of(time) == seconds


@pytest.mark.parametrize("time", ["", "soon", "UNLIMITED", "1:2:3:4", "x-1"])
def test_other_times_are_for_sbatch_to_refuse(time):
    assert seconds_of(time) is None


def test_a_short_limit_gets_a_short_notice():
    assert [notice(time) for time in ("1", "4", "1:00:00", "")] == [15, 60, 120, 120]


def run_file(folder, **job):
    command = Command("/env/bin/python", ("script.py",), {}, "/home/ada")
    return for_run(RunFolder(folder), "digits", 2, JobOptions(nodes=2, **job), command)


def test_a_run_is_checked_for_before_its_prologue():
    text = run_file(Path("/home/ada/x y"), prologue=("module load cuda",))
    assert text.index("[ -d '/home/ada/x y' ]") < text.index("module load cuda") < text.index("exec /env/bin/python")
    assert "#SBATCH '--output=/home/ada/x y/logs/job.out' --open-mode=append" in text
    assert "TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1" in text
    assert "OMP_NUM_THREADS=" in text


def test_a_per_cent_sign_of_a_path_is_none_of_a_pattern():
    assert "--output=/home/50%%/logs/job.out" in run_file(Path("/home/50%"))


def test_a_folder_that_a_node_does_not_see_ends_the_job_with_a_sentence(tmp_path):
    text = run_file(tmp_path / "it's gone")
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"does not see the run's folder {tmp_path}/it's gone" in done.stdout


def test_ranks_are_started_by_srun():
    assert srun_words(("python", "x.py"), tasks=4) == ("srun", "--kill-on-bad-exit=1", "python", "x.py")
    assert srun_words(("python", "x.py"), tasks=1)[-2:] == ("--nproc", "1")


def test_the_file_beside_a_script_is_good_shell_and_names_no_nbddp():
    text = for_script(Path("/w/digits_ddp.py"), 8, JOB, checkpoints=True)
    assert "srun --kill-on-bad-exit=1 python digits_ddp.py --checkpoint digits_ddp.pt --resume auto &" in text
    assert "sbatch digits_ddp.sbatch" in text
    assert "nbddp" not in text
    assert subprocess.run(["bash", "-n", "-c", text], capture_output=True, check=False).returncode == 0


def test_without_checkpoints_it_has_nothing_to_go_on_from():
    text = for_script(Path("digits_ddp.py"), 1, JobOptions(), checkpoints=False)
    assert "srun --kill-on-bad-exit=1 python digits_ddp.py --nproc 1\n" in text
    assert "scontrol" not in text
