"""Logical lines end where Python ends them, with strings that only some Pythons can nest."""

from __future__ import annotations

import pytest

from nbddp.notebook.lexing import comment_lines, logical_line

ONE_LINE = [
    "x = 1",
    "x = (a,\n  b)",
    "x = a \\\n  + b",
    "x = '''\n!ls\n'''",
    'x = """a\\"""\n"""',
    "x = 'a \\\n b'",
    "x = [')', '''\n]''']",
    "f(  # ( in a comment\n)",
    "x = f\"{a}(\" + f'{b!r:>10}'",
    "x = f\"{d['(']}\"",
    'x = f"""{\n a}\n"""',
    'x = f"{x:\'>10}"',
    'x = f"{{ ( }}"',
    'x = f"\\{a(1)}"',
    'x = rf"\\{a}("',
    'x = f"{x!r:{width}}"',
    'x = f"{d["("]}"',
    'x = f"{f"{f"("}"}"',
    'x = f"{\n  a  # }\n}"',
    "x = f'''{a:\n}'''",
    "x = b'''\n#'''",
    "x = 'a'  # it's",
]


@pytest.mark.parametrize("line", ONE_LINE)
def test_ends_behind_the_whole_line(line: str) -> None:
    text = f"first\n{line}\nlast = 2"
    assert logical_line(text, 6).end == 6 + len(line)


@pytest.mark.parametrize("line", ["x = (a", "x = '''a", "x = f'''{a", 'x = [f"{a}"', "x = f'''{a:"])
def test_what_stays_open_takes_the_rest(line: str) -> None:
    text = f"{line}\nlast"
    assert logical_line(text, 0).end == len(text)


@pytest.mark.parametrize("line", ["x = 'a", "don't", "a)", "x = f'a"])
def test_a_short_string_without_its_end_takes_one_line_only(line: str) -> None:
    assert logical_line(f"{line}\nlast", 0).end == len(line)


@pytest.mark.parametrize(
    ("line", "behind"),
    [
        ("x = 1", "x ="),
        ("x: int = 1", "x: int ="),
        ("f(a=1)", None),
        ("x[b == c] = 1", "x[b == c] ="),
        ("x += 1", None),
        ("x == 1", None),
        ("x <= y >= z != u", None),
        ("(x := 1)", None),
        ("x[\n 0] = 1", "x[\n 0] ="),
        ("'=' in x", None),
        ("x **= 2", None),
        ("a = b = c", "a ="),
    ],
)
def test_finds_the_first_equals_sign_outside_brackets(line: str, behind: str | None) -> None:
    assert logical_line(line, 0).assign == (None if behind is None else len(behind))


def test_fields_nested_beyond_reason_take_the_rest() -> None:
    text = "f'{" + "f'{" * 5000 + "\nx"
    assert logical_line(text, 0).end == len(text)


def test_comments_on_lines_of_their_own() -> None:
    text = "# a\nx = 1  # b\ns = '''\n# c\n'''\n  # d\nf(\n# e\n)"
    assert list(comment_lines(text)) == [(0, "# a"), (5, "# d"), (7, "# e")]
