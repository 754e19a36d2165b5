"""What a signal most likely means."""

from __future__ import annotations

import signal

import pytest

from nbddp.run.supervision.causes import (
    MEANINGS,
    ONE_SAMPLE,
    OUT_OF_MEMORY,
    PERHAPS_OUT_OF_MEMORY,
    cause_of,
    explanation,
    name_of,
)


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        (1, 2, OUT_OF_MEMORY),
        (2, 2, PERHAPS_OUT_OF_MEMORY),
        (None, 2, PERHAPS_OUT_OF_MEMORY),
        (1, None, PERHAPS_OUT_OF_MEMORY),
    ],
)
def test_a_kill_is_for_memory_where_the_system_has_counted_one(before, after, cause):
    assert cause_of("SIGKILL", before, after) == cause


@pytest.mark.parametrize(("name", "cause"), [(None, ""), ("SIGSEGV", MEANINGS["SIGSEGV"]), ("SIGUSR1", "")])
def test_other_signals(name, cause):
    assert cause_of(name, 1, 2) == cause


@pytest.mark.parametrize(("number", "name"), [(signal.SIGKILL, "SIGKILL"), (40, "signal 40"), (0, "signal 0")])
def test_names(number, name):
    assert name_of(number) == name


def test_every_signal_with_a_meaning_is_one():
    assert set(MEANINGS) <= set(signal.Signals.__members__)


def test_errors_that_come_of_several_processes_are_explained():
    message = "Expected more than 1 value per channel when training, got input size torch.Size([1, 8])"
    assert explanation(message) == ONE_SAMPLE
    assert explanation("shapes cannot be multiplied") == ""
