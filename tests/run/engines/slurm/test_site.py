"""Defaults of a site, from files."""

from __future__ import annotations

import pytest

from nbddp.run.engines.slurm.site import Site, over, own_file, read_site, save_site
from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.start.command import JobOptions

TEXT = """\
[slurm]
account = vision
partition = gpu
words = --qos=normal --comment="a b"
shared = /home /scratch
gpus = 4
prologue =
    module load cuda/12.4
    source /shared/env/bin/activate
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "config" / "slurm.ini"
    path.parent.mkdir()
    return path


def test_all_that_a_file_can_say(file):
    file.write_text(TEXT)
    job = JobOptions(
        account="vision",
        partition="gpu",
        gpus=4,
        words=("--qos=normal", "--comment=a b"),
        prologue=("module load cuda/12.4", "source /shared/env/bin/activate"),
    )
    assert read_site([file]) == Site(job, ("/home", "/scratch"))


def test_no_file_says_nothing(file):
    assert read_site([file]) == Site()


def test_the_users_own_counts_before_the_systems(file, tmp_path):
    system = tmp_path / "system.ini"
    system.write_text("[slurm]\npartition = all\ntime = 1:00\n")
    file.write_text("[slurm]\npartition = mine\n")
    job = read_site([system, file]).job
    assert (job.partition, job.time) == ("mine", "1:00")


@pytest.mark.parametrize("text", ["[slurm", "[slurm]\npartion = x\n", "[slurm]\ngpus = many\n"])
def test_a_file_that_makes_no_sense_is_refused_in_a_sentence(file, text):
    file.write_text(text)
    with pytest.raises(LaunchFailed, match=r"could not be read|does not know|takes a number"):
        read_site([file])


def test_what_is_asked_for_counts_before_the_site():
    site = JobOptions(partition="all", time="1:00", gpus=4, words=("--qos=a",), prologue=("module load x",))
    asked = JobOptions(nodes=2, partition="gpu", gpus=0, words=("--qos=b",))
    assert over(asked, site) == JobOptions(
        nodes=2, partition="gpu", gpus=0, time="1:00", words=("--qos=a", "--qos=b"), prologue=("module load x",)
    )


def test_what_is_kept_is_read_again_and_the_rest_stays(file):
    file.write_text(TEXT)
    before = read_site([file])
    assert save_site(JobOptions(partition="big", words=("--comment=x y",)), file) == file
    after = read_site([file])
    assert (after.job.partition, after.job.words) == ("big", ("--comment=x y",))
    assert (after.job.account, after.job.prologue, after.shared) == ("vision", before.job.prologue, before.shared)


def test_where_the_users_file_is(tmp_path):
    assert own_file({"XDG_CONFIG_HOME": str(tmp_path)}) == tmp_path / "nbddp" / "slurm.ini"
