"""What a cell prints, overheard line by line."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from typing import Any

from nbddp.inkernel.printed import MOST_PIECES, overhear


class Stream(io.StringIO):
    """One that takes attributes, as the streams of a kernel do."""


def test_lines_are_told_once_they_are_complete_and_are_printed_all_the_same():
    heard: list[str] = []
    with redirect_stdout(Stream()) as stream:
        end = overhear(heard.append)
        print("a", end="")
        print("b\nc")
        print("d", end="")
        assert (heard, stream.getvalue()) == (["ab", "c"], "ab\nc\nd")
        end()
        print("e")
    assert heard == ["ab", "c"]
    assert "write" not in vars(stream)


def test_dots_without_end_are_no_line_without_end():
    heard: list[str] = []
    with redirect_stdout(Stream()) as stream:
        overhear(heard.append)
        for _ in range(2 * MOST_PIECES):
            print(".", end="")
        print()
    assert heard == ["." * MOST_PIECES]
    assert len(stream.getvalue()) == 2 * MOST_PIECES + 1


def test_a_stream_that_takes_no_attributes_is_left_alone():
    class Closed:
        __slots__ = ("text",)

        def write(self, text: str) -> int:
            self.text = text
            return len(text)

    heard: list[str] = []
    stream: Any = Closed()
    with redirect_stdout(stream):
        end = overhear(heard.append)
        sys.stdout.write("a\n")
        end()
    assert (heard, stream.text) == ([], "a\n")
