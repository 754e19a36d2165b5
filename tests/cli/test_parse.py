"""Arguments read the same way by every verb."""

from __future__ import annotations

import argparse

import pytest

from nbddp.cli.parse import Parser, Refusal, count_of_steps, device_numbers, natural, nearest, process_count


def parser(rest: str = "") -> Parser:
    made = Parser(prog="nbddp x")
    made.add_argument("--nproc", type=process_count)
    made.add_argument("-o", "--output")
    made.rest = rest
    return made


def test_options_are_read_whole():
    assert parser().parse(["--nproc", "2", "-o", "a"]).nproc == 2
    assert parser().parse(["--nproc=2"]).nproc == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--npro", "2"], "did you mean '--nproc'"),
        (["--np", "2"], "no option '--np'"),
        (["-x"], "no option '-x'"),
        (["--nproc", "0"], "at least 1"),
        (["--nproc"], "expected one argument"),
    ],
)
def test_a_slip_is_refused_in_a_sentence(words, said):
    with pytest.raises(Refusal, match=said):
        parser().parse(words)


def test_what_follows_two_dashes_is_the_scripts_own():
    found = parser("the script's").parse(["--nproc", "2", "--", "--lr", "0.1"])
    assert (found.nproc, found.rest) == (2, ["--lr", "0.1"])
    with pytest.raises(Refusal, match="follow a --"):
        parser("the script's").parse(["--zzzzz", "0.1"])


@pytest.mark.parametrize(
    ("read", "word", "value"),
    [(process_count, "3", 3), (natural, "0", 0), (count_of_steps, "2", 2), (device_numbers, "0,2", (0, 2))],
)
def test_numbers(read, word, value):
    assert read(word) == value


@pytest.mark.parametrize(
    ("read", "word"),
    [
        (process_count, "0"),
        (natural, "-1"),
        (count_of_steps, "1"),
        (device_numbers, "0,"),
        (process_count, "1.5"),
        (natural, "²"),
    ],
)
def test_what_is_none(read, word):
    with pytest.raises(argparse.ArgumentTypeError):
        read(word)


def test_the_nearest_of_what_is_known():
    assert nearest("--ouput", ["--output", "--nproc"]) == " (did you mean '--output'?)"
    assert nearest("--zzz", ["--output"]) == ""
