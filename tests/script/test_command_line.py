"""The notebook's parameters as options."""

from __future__ import annotations

import argparse
import subprocess
import sys
from typing import Any

import pytest
import torch

from nbddp.script.launcher import Needs, launcher
from nbddp.script.parts.process import literal

PARAMETERS: dict[str, Any] = {
    "lr": 0.1,
    "BATCH_SIZE": 50,
    "amp": False,
    "name": "adam",
    "hidden": [64, 32],
    "betas": (0.9, 0.999),
    "scales": [1, 0.5],
    "limit": None,
    "nested": {"a": [1]},
    "lambda_": 2,
    "LAMBDA": 3,
    "checkpoint": "x.pt",
    "seed": 4,
    "parser": 5,
    "rank": 8,
    "args": 9,
    "nproc": 10,
    "_private": "p",
}


def parsed(parameters: dict[str, Any], *words: str) -> dict[str, Any]:
    """What `run` sets the constants to: the script's `main` up to where processes begin, then `run` up to there."""
    text = launcher(parameters).source
    args = "args_" if "args" in parameters else "args"
    parse = text[text.index("def main():") : text.index('    if "RANK" in os.environ')] + f"    return {args}\n"
    first = text[
        text.index("def run(") : text.index("    if rank > 0:" if "rank" not in parameters else "    if rank_ ")
    ]
    known = {"argparse": argparse, "torch": torch, "literal": literal, "__name__": "script"}
    scope: dict[str, Any] = {**parameters, **known}
    exec(parse + first, scope)
    sys.argv = ["script.py", *words]
    scope["run"](0, 0, 1, scope["main"]())
    return {name: scope[name] for name in parameters}


@pytest.fixture(autouse=True)
def arguments(monkeypatch):
    monkeypatch.setattr(sys, "argv", [])


def test_the_defaults_are_the_constants():
    assert parsed(PARAMETERS) == PARAMETERS


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("--lr 1", {"lr": 1.0}),
        ("--batch-size 8", {"BATCH_SIZE": 8}),
        ("--amp", {"amp": True}),
        ("--no-amp", {"amp": False}),
        ("--name sgd", {"name": "sgd"}),
        ("--hidden 8 4 2", {"hidden": [8, 4, 2]}),
        ("--hidden", {"hidden": []}),
        ("--betas 0.5 0.9", {"betas": (0.5, 0.9)}),
        ("--scales 2 0.25", {"scales": [2.0, 0.25]}),
        ("--limit 10", {"limit": 10}),
        ("--limit first", {"limit": "first"}),
        ("--nested {'a':2}", {"nested": {"a": 2}}),
        ("--lambda- 7", {"lambda_": 7}),
        ("--LAMBDA 8", {"LAMBDA": 8}),
        ("--checkpoint y.pt", {"checkpoint": "y.pt"}),
        ("--notebook-nproc 6", {"nproc": 6}),
        ("--rank 7", {"rank": 7}),
        ("--args 6", {"args": 6}),
        ("--seed 9", {"seed": 9}),
        ("--parser 6", {"parser": 6}),
        ("--private q", {"_private": "q"}),
        ("--lr -0.5", {"lr": -0.5}),
    ],
)
def test_each_can_be_said(words, expected):
    assert parsed(PARAMETERS, *words.split()) == {**PARAMETERS, **expected}


def test_two_names_that_differ_in_case():
    assert parsed({"n": 1, "N": 2}, "--n", "3", "--N", "4") == {"n": 3, "N": 4}


def test_a_seed_that_is_no_number_is_another_thing():
    text = launcher({"seed": None}, Needs(seed=frozenset({"torch"}))).source
    assert "seed = args.notebook_seed" in text
    assert "manual_seed(args.seed)" in text


@pytest.mark.parametrize("words", [["--lr", "fast"], ["--unknown"]])
def test_what_makes_no_sense_is_refused(words, capsys):
    with pytest.raises(SystemExit):
        parsed(PARAMETERS, *words)
    assert "error:" in capsys.readouterr().err


ALL = {"seed": frozenset({"torch", "numpy"}), "snapshot": ("x",), "sets": True, "workers": True, "bars": True,
       "place": True}  # fmt: skip


@pytest.mark.parametrize("needs", [{}, {"gpu": False, "seed": frozenset({"torch"})}, ALL], ids=len)
@pytest.mark.parametrize("parameters", [{}, PARAMETERS, {f"a_rather_long_parameter_{i}": i for i in range(4)}], ids=len)
def test_the_text_is_as_ruff_lays_it_out(tmp_path, parameters, needs):
    made = launcher(parameters, Needs(nproc=3, **needs), train="train_on_rank", renames={"argparse": "argparse_"})
    (tmp_path / "script.py").write_text(made.source)
    command = [sys.executable, "-m", "ruff", "format", "--diff", "--isolated", "--line-length", "120", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert ("--snapshot" in made.source) is ("snapshot" in needs)
    assert 'parser.add_argument("--nproc", type=int, default=3,' in made.source or "rank" in parameters
    assert " train_on_rank(rank" in made.source
    assert "import argparse as argparse_" in made.imports
    assert {"argparse_", "run", "spawned", "main"} <= made.names


def test_without_a_gpu_in_the_notebook_none_is_used():
    assert "cuda" not in launcher({}, Needs(nproc=2, gpu=False)).source
    assert '"nccl"' in launcher({}).source
