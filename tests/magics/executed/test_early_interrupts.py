"""Interrupts between the beginning of a cell and its magic: one that is lost leaves a run behind."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import pytest

from nbddp.magics.executed.early_interrupts import EarlyInterrupts

OURS = SimpleNamespace(raw_cell="# a comment\n%%ddp_train --nproc 2\nx = 1")
OTHER = SimpleNamespace(raw_cell="x = '%%ddp_train'")


@pytest.fixture(autouse=True)
def handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_one_that_comes_is_raised_and_noted():
    early = EarlyInterrupts()
    early.begins(OURS)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        early.check()
    early.check()  # once
    early.ended(None)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_other_cells_nothing_is_changed():
    early = EarlyInterrupts()
    early.begins(OTHER)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    early.check()


def test_one_of_an_earlier_cell_is_forgotten():
    early = EarlyInterrupts()
    early.begins(OURS)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    early.begins(OURS)
    early.check()
    early.ended(None)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_whoever_has_set_another_handler_keeps_it():
    early = EarlyInterrupts()
    early.begins(OURS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    early.ended(None)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
