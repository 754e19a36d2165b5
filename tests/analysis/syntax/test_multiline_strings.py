"""Lines that begin inside of a string: indenting one would change the program."""

from __future__ import annotations

import pytest

from nbddp.analysis.syntax import lines_in_strings


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('a = """\nb\n"""\nc', {2, 3}),
        ('a = f"""\n{b}\n"""', {2, 3}),
        ("a = '''x\ny'''\nb = '''\nz'''", {2, 4}),
        ('f("""\na""",\n  b)', {2}),
        ("a = 'b'\nc = 'd'", set()),
        ("a = (1,\n  2)", set()),
        ("a = 'b\\\nc'", {2}),
        ("# '''\nb", set()),
        ('a = """\nb', set()),  # never closed: what is known until there
    ],
)
def test_lines(text, lines):
    assert lines_in_strings(text) == lines
