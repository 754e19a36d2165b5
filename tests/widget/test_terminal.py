from __future__ import annotations

import time

import pytest

from nbddp.widget.terminal import LONGEST, last_lines, plain, settle


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("plain text", "plain text"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("windows line\r", "windows line"),
        ("  0%|\r 50%|\r100%|", "100%|"),
        ("long one\rshort", "shortone"),
        ("long one\r\x1b[Kshort", "short"),
        ("long one\x1b[2K\rshort", "short   "),
        ("ab\bc", "ac"),
        ("\b\bab", "ab"),
        ("bell\x07 and null\x00", "bell and null"),
        ("up\x1b[A and title\x1b]0;name\x07 gone\x1b(", "up and title gone("),
        ("\x1b[31mred\x1b[0m", "\x1b[0m\x1b[31mred\x1b[0m"),
        ("\x1b[31mred\x1b[1mbold\x1b[m", "\x1b[0m\x1b[31mred\x1b[0m\x1b[31;1mbold\x1b[0m"),
        ("\x1b[31mred", "\x1b[0m\x1b[31mred\x1b[0m"),
        ("\x1b[32m####\x1b[0m\r\x1b[31m##", "\x1b[0m\x1b[31m##\x1b[0m\x1b[32m##\x1b[0m"),
        ("tab\tstays, größer 日本", "tab\tstays, größer 日本"),
        ("", ""),
    ],
)
def test_settle(written, seen):
    assert settle(written) == seen


def test_a_long_line_is_cut_and_says_so():
    assert settle("x" * (LONGEST + 5000)) == "x" * LONGEST + " … 5,000 more characters"
    assert plain(settle("\x1b[31m" + "x" * (LONGEST + 5))) == "x" * LONGEST + " … 5 more characters"


def test_a_bar_redrawn_for_an_hour_costs_little():
    line = "".join(f"\r{percent:8.3f}%|{'#' * 60}" for percent in range(100_000))
    began = time.process_time()
    assert settle(line) == f"{99_999:8.3f}%|{'#' * 60}"
    assert time.process_time() - began < 1.0


def test_last_lines():
    assert last_lines("a\nb\nc\n", 2) == ["b", "c"]
    assert last_lines("a\nb\nhalf", 2) == ["b", "half"]
    assert last_lines("\n\n") == ["", ""]
    assert last_lines("") == []
    assert last_lines("one") == ["one"]
