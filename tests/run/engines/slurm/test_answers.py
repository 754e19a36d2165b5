"""What SLURM prints, as values and in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from nbddp.run.engines.known import JobFacts
from nbddp.run.engines.slurm.answers import (
    as_printed,
    cancelled_by,
    read_job,
    why_it_ended,
    why_it_waits,
)

RUNNING = """\
JobId=3 JobName=a UserId=ada(1000) GroupId=ada(1000) MCS_label=N/A Priority=4294901759 Account=(null) QOS=(null) \
JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=2 BatchFlag=1 Reboot=0 ExitCode=0:0 RunTime=00:00:20 \
TimeLimit=01:00:00 EndTime=2026-11-23T08:49:25 PreemptTime=None SuspendTime=None Partition=low \
ReqNodeList=(null) ExcNodeList=(null) NodeList=nb[A-B] BatchHost=nbA NumNodes=2 NumCPUs=4 Command=/x/a.sbatch \
Comment=JobState=FAILED WorkDir=/tmp/x Power="""
PENDING = RUNNING.replace("RUNNING Reason=None", "PENDING Reason=Resources").replace("NodeList=nb[A-B]", "NodeList=")


def test_a_job_that_runs():
    facts = read_job(RUNNING)
    assert replace(facts, ends=None) == JobFacts("RUNNING", "None", "low", "nb[A-B]", "0:0", 2, False, "01:00:00")
    assert datetime.fromtimestamp(facts.ends).isoformat() == "2026-11-23T08:49:25"
    assert facts.goes_on
    assert not facts.waits
    assert why_it_waits(facts) == ""


def test_one_that_waits_says_why():
    facts = read_job(PENDING)
    assert (facts.waits, facts.nodes, why_it_waits(facts)) == (True, "", "it waits for nodes to become free")


def test_one_that_is_being_preempted():
    assert read_job(RUNNING.replace("PreemptTime=None", "PreemptTime=2026-11-23T07:49:31")).preempted


def test_a_reason_without_words_of_its_own_is_told_as_it_is():
    assert why_it_waits(JobFacts("PENDING", "QOSGrpSubmit_Limit")) == "QOSGrpSubmit Limit"


def test_after_a_requeue_the_wait_has_a_reason():
    assert "two minutes" in why_it_waits(JobFacts("PENDING", "BeginTime", restarts=1))
    assert "two minutes" not in why_it_waits(JobFacts("PENDING", "BeginTime"))


@pytest.mark.parametrize("text", ["", "slurm_load_jobs error: Invalid job id specified", "JobState="])
def test_no_job(text):
    assert read_job(text) is None


@pytest.mark.parametrize(
    ("facts", "by", "words"),
    [
        (JobFacts("TIMEOUT", limit="02:00:00"), "", "It reached its time limit (02:00:00)."),
        (JobFacts("NODE_FAIL"), "", "A node that it ran on failed."),
        (JobFacts("CANCELLED"), "ada", "It was cancelled by ada."),
        (JobFacts("CANCELLED"), "", "It was cancelled, with scancel or by an administrator."),
        (JobFacts("FAILED", exit_code="3:0"), "", "Its job ended with status 3."),
        (JobFacts("FAILED", exit_code="0:9"), "", "Its job ended by signal 9."),
    ],
)
def test_why_it_ended(facts, by, words):
    assert why_it_ended(facts, by) == words


def test_memory_is_named_with_what_to_do():
    assert "--mem" in why_it_ended(JobFacts("OUT_OF_MEMORY"))


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("", "CANCELLED"),
        (" DUE TO TIME LIMIT", "TIMEOUT"),
        (" DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS", "NODE_FAIL"),
    ],
)
def test_while_it_is_ending_its_output_says_why(tmp_path, reason, state):
    output = tmp_path / "job.out"
    output.write_text(f"x\nslurmstepd-n1: error: *** JOB 1 ON n1 CANCELLED AT 2026-11-23T08:32:23{reason} ***\n")
    assert as_printed(JobFacts("COMPLETING"), tmp_path / "none", output).state == state
    assert as_printed(JobFacts("FAILED"), output).state == "FAILED"
    assert JobFacts("COMPLETING").is_ending
    assert not JobFacts("RUNNING").is_ending


def test_who_has_cancelled_it_is_in_the_accounting():
    assert cancelled_by("CANCELLED by 1000\n") == "1000"
    assert cancelled_by("COMPLETED\n") == ""
