"""What `main` says of batch sizes that do not divide."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

import pytest

from nbddp.script.batch_check import batch_check


def said(capsys: pytest.CaptureFixture[str], sizes: list[str], nproc: int, **args: int) -> str:
    text = "if True:\n" + batch_check(sizes)
    exec(text, {"os": os, "args": Namespace(nproc=nproc, **args), "parser": ArgumentParser()})
    return capsys.readouterr().out


def test_a_batch_that_divides_is_not_mentioned(capsys, monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert said(capsys, ["args.batch_size"], 4, batch_size=64) == ""


def test_what_is_left_of_one_that_does_not(capsys, monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert said(capsys, ["args.batch_size"], 3, batch_size=64) == "batches of 63 rather than 64: 21 on each process\n"
    assert said(capsys, ["64", "32"], 3).count("\n") == 2


def test_one_process_speaks_for_all(capsys, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "3")
    monkeypatch.setenv("RANK", "1")
    assert said(capsys, ["64"], 1) == ""


def test_a_batch_of_fewer_samples_than_processes_is_refused(capsys, monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with pytest.raises(SystemExit):
        said(capsys, ["64"], 65)
    assert "a batch of 64 is too small for 65 processes" in capsys.readouterr().err


def test_nothing_to_split():
    assert batch_check([]) == ""
