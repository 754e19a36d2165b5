"""What IPython fills into magics and shell lines, as Python strings."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbddp.notebook.interpolation import filled, quoted


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("ls", '"ls"'),
        ("ls {folder}", 'f"ls {folder}"'),
        ("ls {folder!r}/{n:03d}", 'f"ls {folder!r}/{n:03d}"'),
        ('ls {d["a"]}', "f\"ls {d['a']}\""),
        ("ls {d['a']}", "f\"ls {d['a']}\""),
        ("ls {{a}}", '"ls {a}"'),
        ("ls {{a}} {b}", 'f"ls {{a}} {b}"'),
        ("ls $folder", 'f"ls {folder}"'),
        ("ls $a.b.c/x", 'f"ls {a.b.c}/x"'),
        ("ls $$folder", '"ls $folder"'),
        ("ls $HOME", '"ls $HOME"'),
        ("echo '$folder'", "\"echo '$folder'\""),
        ("awk '{print $1}' x", "\"awk '{print $1}' x\""),
        ("find . -exec rm {} ;", '"find . -exec rm {} ;"'),
        ("echo {", '"echo {"'),
        ("echo }", '"echo }"'),
        ("echo {a!x}", '"echo {a!x}"'),
        ("echo {'a' + \"b\"}", '"echo {\'a\' + \\"b\\"}"'),
        ('echo "a" {b}', 'f"echo \\"a\\" {b}"'),
        ('echo "a"', "'echo \"a\"'"),
        ("echo a\\nb {c}", 'f"echo a\\\\nb {c}"'),
        ("ls größe/{x}", 'f"ls größe/{x}"'),
    ],
)
def test_filled(text: str, code: str) -> None:
    assert filled(text) == code
    ast.parse(code)


@given(st.text(st.characters(codec="utf-8")))
def test_quoted_is_the_text(text: str) -> None:
    assert ast.literal_eval(quoted(text)) == text


@given(st.text("ab{}$'\"\\!:.()[]1 \n"))
def test_filled_always_compiles(text: str) -> None:
    compile(filled(text), "<filled>", "eval")
