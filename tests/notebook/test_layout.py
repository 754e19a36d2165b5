"""What IPython takes off a cell before it looks for magics."""

from __future__ import annotations

import pytest

from nbddp.notebook.layout import flush_left, unix_newlines


@pytest.mark.parametrize(
    ("source", "flush"),
    [
        ("x = 1", "x = 1"),
        ("  x = 1\n  y = 2", "x = 1\ny = 2"),
        ("\n  x = 1\n\n    y = 2\n", "\nx = 1\n\n  y = 2\n"),
        ("\tif x:\n\t\ty", "if x:\n\ty"),
        ("    x = 1\ny = 2", "x = 1\ny = 2"),
        ("    if x:\n        y\nz", "if x:\n    y\nz"),
        ("    # c\nif x:\n    y", "    # c\nif x:\n    y"),
        ("    # c\n    x = 1\n    y", "# c\nx = 1\ny"),
        ("# c\n    x = 1\n    y", "# c\nx = 1\ny"),
        ("s = '''\n  \n'''", "s = '''\n  \n'''"),
        (">>> x = 1\n>>> if x:\n...     y\n...", "x = 1\nif x:\n    y\n"),
        ("In [1]: x = 1\n   ...: y = 2", "x = 1\ny = 2"),
        ("In [10]: if x:\n    ...:     y", "if x:\n    y"),
        ("\ufeffx = 1", "x = 1"),
        ("", ""),
        ("\n \n", "\n \n"),
    ],
)
def test_flush_left(source: str, flush: str) -> None:
    assert flush_left(source) == flush
    assert flush.count("\n") == source.count("\n")


def test_all_newlines_are_one() -> None:
    assert unix_newlines("a\r\nb\rc\nd") == "a\nb\nc\nd"
    assert unix_newlines("a\x0bb\x0cc\u2028d") == "a\x0bb\x0cc\u2028d"
