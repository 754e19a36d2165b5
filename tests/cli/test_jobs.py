"""The options that send a run to a cluster, and what follows a --."""

from __future__ import annotations

import pytest

from nbddp.cli.jobs import add_on, job_of, split_rest
from nbddp.cli.parse import Parser, Refusal
from nbddp.run.start.command import JobOptions


def parsed(*words):
    parser = Parser(prog="nbddp run")
    add_on(parser)
    return parser.parse(words)


def test_a_job_with_all_that_it_is_asked_for():
    words = (
        "--on",
        "slurm",
        "--nodes",
        "2",
        "--time",
        "2:00:00",
        "--partition",
        "gpu",
        "--account",
        "a",
        "--gpus",
        "4",
    )
    job = JobOptions(nodes=2, time="2:00:00", partition="gpu", account="a", gpus=4, words=("--mem=1G",))
    assert job_of(parsed(*words), ("--mem=1G",)) == job


def test_here_unless_it_is_said():
    assert job_of(parsed(), ()) is None
    assert job_of(parsed("--on", "here", "--nodes", "2"), ()) is None  # the cell's line may ask for nodes


@pytest.mark.parametrize("words", [("--nodes", "2"), ("--time", "1:00"), ("--gpus", "0")])
def test_what_is_for_a_job_alone_makes_none(words):
    with pytest.raises(Refusal, match="add --on slurm"):
        job_of(parsed(*words), ())


@pytest.mark.parametrize(
    "words", [("--on", "pbs"), ("--on", "slurm", "--nodes", "0"), ("--on", "slurm", "--gpus", "x")]
)
def test_nonsense_is_refused(words):
    with pytest.raises(Refusal):
        parsed(*words)


@pytest.mark.parametrize(
    ("rest", "words", "own"),
    [
        ([], (), ()),
        (["--mem=1G"], ("--mem=1G",), ()),
        (["--mem=1G", "--", "--lr", "0.1"], ("--mem=1G",), ("--lr", "0.1")),
        (["--", "--lr", "0.1"], (), ("--lr", "0.1")),
    ],
)
def test_words_for_sbatch_and_the_scripts_own(rest, words, own):
    assert split_rest(rest) == (words, own)
