"""The options of `%%ddp_train`."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbddp.cli.parse import Refusal
from nbddp.magics.first_line.arguments import options_of, parse, run_options_of


def parsed(line: str):
    found = parse(line)
    assert found is not None
    return found


def test_what_is_not_said_is_left_open():
    arguments = parsed("")
    options, run = options_of(arguments, 7), run_options_of(arguments)
    assert (options.train, options.nproc, options.batch_per_rank, options.sync_batchnorm) == (7, None, None, None)
    assert options.snapshot in (None, ())
    assert (run.nproc, run.devices, run.resume, run.arguments) == (None, None, None, ())


def test_options_reach_the_export_and_the_run():
    arguments = parsed(
        "--nproc 3 --devices 0,2 --batch-per-rank --snapshot xs,ys --seed 5 --checkpoint-every 2e -- --lr 0.1"
    )
    options, run = options_of(arguments, 1), run_options_of(arguments)
    assert (options.nproc, options.batch_per_rank, options.snapshot) == (3, True, ("xs", "ys"))
    assert (options.checkpoints, options.slurm) == (None, None)
    assert (run.nproc, run.devices, run.seed, run.checkpoint_every) == (3, (0, 2), 5, "2e")
    assert run.arguments == ("--lr", "0.1")


def test_a_checkpoint_is_found_wherever_the_script_goes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_options_of(parsed("--resume a.pt")).resume == str(tmp_path / "a.pt")
    assert run_options_of(parsed("--resume ~/a.pt")).resume == str(Path.home() / "a.pt")


@pytest.mark.parametrize(
    "line", ["--nproc 0", "--nproc x", "--devices a", "--mode other", "--export 'a", "--checkpoint-every 0"]
)
def test_what_makes_no_sense_is_refused(line):
    with pytest.raises(Refusal):
        parse(line)


def test_help_is_printed(capsys):
    assert parse("--help") is None
    assert "--nproc" in capsys.readouterr().out
