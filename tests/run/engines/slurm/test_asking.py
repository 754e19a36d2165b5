"""A job asked about aside, so that who shows it never waits for SLURM."""

from __future__ import annotations

import sys
import threading
from itertools import count

import pytest

from nbddp.run.engines.slurm.answers import JobFacts
from nbddp.run.engines.slurm.asking import Known, about, called

NUMBERS = count(900_000_000)


@pytest.fixture
def number():
    """Of a job that no other test asks about."""
    return str(next(NUMBERS))


def test_a_command_with_what_it_prints():
    said = called([sys.executable, "-c", "import sys; print('x'); sys.exit('no such job')"])
    assert (said.status, said.text, said.error) == (1, "x\n", "no such job")


def test_one_that_there_is_not():
    assert called(["there-is-no-such-command"]).status == 127


def test_one_that_does_not_answer_is_given_up():
    said = called([sys.executable, "-c", "import threading; threading.Event().wait()"], within=0.2)
    assert said.status == 124
    assert "has not answered" in said.error


def test_jobs_around_do_not_reach_a_command():
    script = "import os; print(*sorted(name for name in os.environ if name.startswith('S')))"
    environ = {"SLURM_JOB_ID": "1", "SBATCH_PARTITION": "x", "SLURM_CONF": "/etc/x"}
    assert called([sys.executable, "-c", script], environ).text == "SLURM_CONF\n"


def test_nobody_waits_for_an_answer_unless_he_wants_to(number):
    let = threading.Event()

    def ask(_):
        let.wait()
        return Known(JobFacts("RUNNING"))

    assert about(number, ask=ask) == Known()
    let.set()
    assert about(number, wait=30.0, ask=ask).facts == JobFacts("RUNNING")


def test_what_was_known_stays_while_there_is_no_answer(number):
    about(number, wait=30.0, ask=lambda _: Known(JobFacts("RUNNING")))
    known = about(number, wait=30.0, fresh=0.0, ask=lambda _: Known(silent=True))
    assert (known.facts, known.silent) == (JobFacts("RUNNING"), True)


def test_how_it_ended_is_known_after_slurm_has_forgotten_it(number):
    about(number, wait=30.0, ask=lambda _: Known(JobFacts("TIMEOUT")))
    assert about(number, wait=30.0, fresh=0.0, ask=lambda _: Known(forgotten=True)).facts == JobFacts("TIMEOUT")


def test_one_that_was_running_when_it_was_forgotten_is_gone(number):
    about(number, wait=30.0, ask=lambda _: Known(JobFacts("RUNNING")))
    assert about(number, wait=30.0, fresh=0.0, ask=lambda _: Known(forgotten=True)).forgotten
