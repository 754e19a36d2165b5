"""A run that waits in a queue or has been taken from it: what is said of it where it has not said so itself."""

from __future__ import annotations

import json
import re
from itertools import count

import pytest

from nbddp.run.engines.known import JobFacts, Known
from nbddp.run.engines.queue import Queue, Queued
from nbddp.run.engines.slurm.answers import why_it_ended, why_it_waits
from nbddp.run.folder.folders import create
from nbddp.run.state.events import append

NUMBERS = count(800_000_000)


@pytest.fixture
def folder(tmp_path):
    """Of a run whose job no other test asks about."""
    made = create(tmp_path, "x")
    made.job.write_text(json.dumps({"engine": "slurm", "number": str(next(NUMBERS)), "address": ""}))
    append(made, "queued", engine="slurm", job="1", partition="low", name="x", nproc=2)
    return made


def engine(*answers):
    left = list(answers)
    number = re.compile(r"[0-9]{1,12}")

    def ask(_):
        return left.pop(0) if len(left) > 1 else left[0]

    return Queued(Queue("slurm", "SLURM", number, lambda *_: "", ask, lambda _: None, why_it_waits, why_it_ended))


@pytest.mark.parametrize(
    ("known", "cause"),
    [
        (Known(JobFacts("CANCELLED")), "It was cancelled, with scancel or by an administrator, before it had started."),
        (Known(JobFacts("CANCELLED"), by="ada"), "It was cancelled by ada, before it had started."),
    ],
)
def test_cancelled_while_it_waited(folder, known, cause):
    event = engine(known).why(folder, wait=30.0)
    assert (event["phase"], event["cause"]) == ("killed", cause)


def test_cancelled_after_it_had_started(folder):
    append(folder, "launch", name="x", nproc=2, start="")
    event = engine(Known(JobFacts("CANCELLED"), by="ada")).why(folder, wait=30.0)
    assert (event["phase"], event["cause"]) == ("killed", "It was cancelled by ada.")


def test_a_job_that_no_node_could_begin(folder):
    event = engine(Known(JobFacts("FAILED", nodes="n[1-2]", exit_code="1:0"))).why(folder, wait=30.0)
    assert event["phase"] == "failed"
    assert event["cause"].startswith("Its job ")
    assert f"most likely not all of them see {folder.path}" in event["cause"]
    append(folder, "launch", name="x", nproc=2, start="")
    assert engine(Known()).why(folder)["cause"] == "Its job ended with status 1."


def test_an_engine_that_does_not_answer_has_ended_nothing(folder):
    silent = engine(Known(silent=True))
    assert silent.why(folder, wait=30.0) is None
    standing = silent.state(folder, wait=30.0)
    assert standing.lives is None
    assert [event["silent"] for event in standing.told] == [True]


def test_a_job_that_the_engine_has_forgotten(folder):
    event = engine(Known(forgotten=True)).why(folder, wait=30.0)
    assert event["event"] == "lost"
    assert event["message"].startswith("SLURM no longer knows job 8")
