"""A job asked about aside, so that who shows it never waits for its engine."""

from __future__ import annotations

import threading
from itertools import count

import pytest

from nbddp.run.engines.known import JobFacts, Known, known_of

NUMBERS = count(900_000_000)


@pytest.fixture
def number():
    """Of a job that no other test asks about."""
    return str(next(NUMBERS))


def test_nobody_waits_for_an_answer_unless_he_wants_to(number):
    let = threading.Event()

    def ask(_):
        let.wait()
        return Known(JobFacts("RUNNING"))

    assert known_of(number, ask=ask) == Known()
    let.set()
    assert known_of(number, wait=30.0, ask=ask).facts == JobFacts("RUNNING")


def test_what_was_known_stays_while_there_is_no_answer(number):
    known_of(number, wait=30.0, ask=lambda _: Known(JobFacts("RUNNING")))
    known = known_of(number, wait=30.0, fresh=0.0, ask=lambda _: Known(silent=True))
    assert (known.facts, known.silent) == (JobFacts("RUNNING"), True)


def test_how_it_ended_is_known_after_the_engine_has_forgotten_it(number):
    known_of(number, wait=30.0, ask=lambda _: Known(JobFacts("TIMEOUT")))
    assert known_of(number, wait=30.0, fresh=0.0, ask=lambda _: Known(forgotten=True)).facts == JobFacts("TIMEOUT")


def test_one_that_was_running_when_it_was_forgotten_is_gone(number):
    known_of(number, wait=30.0, ask=lambda _: Known(JobFacts("RUNNING")))
    assert known_of(number, wait=30.0, fresh=0.0, ask=lambda _: Known(forgotten=True)).forgotten
