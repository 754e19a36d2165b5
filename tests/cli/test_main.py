import os
import subprocess
import sys
from pathlib import Path

import pytest

from nbddp import __version__
from nbddp.cli import VERBS, main

ROOT = Path(__file__).parents[2]


def said(capsys, *words):
    status = main(words)
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize("word", ["-h", "--help"])
def test_help_lists_every_verb(capsys, word):
    status, out, err = said(capsys, word)
    assert (status, err) == (0, "")
    assert all(f"  {verb.name} " in out and verb.summary in out for verb in VERBS)


def test_without_a_verb_the_help_goes_to_standard_error(capsys):
    status, out, err = said(capsys)
    assert (status, out) == (2, "")
    assert "usage: nbddp VERB" in err


def test_version(capsys):
    assert said(capsys, "--version") == (0, f"nbddp {__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["exprot"], "no verb 'exprot' (did you mean 'export'?); `nbddp --help` lists them"),
        (["zzz"], "no verb 'zzz'; `nbddp --help` lists them"),
        (["--quiet"], "no option '--quiet'; `nbddp --help` lists them"),
        (
            ["export", "x.ipynb", "--trian", "3"],
            "export: no option '--trian' (did you mean '--train'?); see `nbddp export --help`",
        ),
        (["export", "--jsn"], "export: no option '--jsn' (did you mean '--json'?); see `nbddp export --help`"),
        (
            ["export", "x.ipynb", "--trai=3"],
            "export: no option '--trai' (did you mean '--train'?); see `nbddp export --help`",
        ),
        (["check", "x.ipynb", "-q"], "check: no option '-q'; see `nbddp check --help`"),
        (["check"], "check: the following arguments are required: NOTEBOOK; see `nbddp check --help`"),
        (["check", "x.ipynb", "y.ipynb"], "check: unrecognized arguments: y.ipynb; see `nbddp check --help`"),
        (
            ["export", "x.ipynb", "--nproc", "0"],
            "export: argument --nproc: it takes a number of processes, at least 1, not '0'; see `nbddp export --help`",
        ),
        (
            ["export", "x.ipynb", "--train", "Net"],
            "export: argument --train: it takes the number of a cell, not 'Net'; see `nbddp export --help`",
        ),
    ],
)
def test_a_slip_gets_one_sentence(capsys, words, sentence):
    assert said(capsys, *words) == (2, "", f"nbddp: {sentence}\n")


def test_options_are_not_guessed_from_their_first_letters(capsys):
    status, _, err = said(capsys, "export", "x.ipynb", "--forc")
    assert (status, "no option '--forc' (did you mean '--force'?)" in err) == (2, True)


@pytest.mark.parametrize("verb", [verb.name for verb in VERBS])
def test_each_verb_has_help_of_its_own(capsys, verb):
    with pytest.raises(SystemExit, match="0"):
        main([verb, "--help"])
    assert f"usage: nbddp {verb}" in capsys.readouterr().out


def test_an_interrupt_ends_without_a_traceback(capsys, compiler, notebook):
    compiler.refusal = KeyboardInterrupt()
    assert said(capsys, "export", "x.ipynb") == (130, "", "")


def test_a_defect_of_our_own_is_not_dressed_up_as_a_refusal(compiler, notebook):
    compiler.refusal = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        main(["export", "x.ipynb"])


def test_the_module_runs_as_the_console_script_does():
    done = subprocess.run(
        [sys.executable, "-m", "nbddp", "--version"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == f"nbddp {__version__}\n"


def test_a_reader_that_stops_early_is_no_error(tmp_path):
    """`nbddp export --stdout x.ipynb | head -1` in many words, with a script too long for the pipe's buffer."""
    code = (
        "import sys; import nbddp.cli as c\n"
        "c._dispatch = lambda words: print('x' * 1_000_000) or 0\n"
        "sys.exit(c.main([]))"
    )
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
