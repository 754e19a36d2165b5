"""Texts that show their own source: the script's must be the notebook's."""

from __future__ import annotations

import ast

import pytest

from nbddp.edits import shown_by_name, wrap
from nbddp.script.apply import apply
from tests.analysis.cells import program


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ('f"{a=}"', 'f"a={f(a)!r}"'),
        ('f"{a=:.3f}"', 'f"a={f(a):.3f}"'),
        ('f"{ a = !s}"', 'f" a = { f(a) !s}"'),
        ('f"{(a)=}"', 'f"(a)={(f(a))!r}"'),
        ('f"{[a]=}"', 'f"[a]={[f(a)]!r}"'),
        ("f\"{dict(k={'a': a})=}\"", "f\"dict(k={{'a': a}})={dict(k={'a': f(a)})!r}\""),
        ('f"{a} {b=}"', 'f"{f(a)} {b=}"'),
        ('f"{a == 1}"', 'f"{f(a) == 1}"'),
        ('f"{b=:{a}}"', 'f"{b=:{f(a)}}"'),
    ],
)
def test_the_name_stands_before_what_is_shown(text, result):
    made = program(text)
    names = [n for n in made.nodes if isinstance(n, ast.Name) and n.id == "a"]
    edits = [edit for name in names for edit in wrap(made, "r", name, "f(", ")")]
    edits += shown_by_name(made, edits)
    assert "\n".join(line.text for line in apply(made, 0, len(made.text), edits)).strip() == result
