"""Fields of modules that are read, as names."""

from __future__ import annotations

import ast

from nbddp.analysis.syntax.field_names import with_names
from nbddp.notebook import parse

TEXT = "def f(losses):\n    return losses.pairs\nx = losses.pairs(losses.other, losses.a.b)\n"


def test_from_a_line_on() -> None:
    tree = with_names(parse(TEXT), {"losses": {"pairs": "p", "a": "aa"}}, 3)
    assert ast.unparse(tree) == "def f(losses):\n    return losses.pairs\nx = p(losses.other, aa.b)"
    call = tree.body[1].value.func  # type: ignore[attr-defined]
    assert ast.get_source_segment(TEXT, call) == "losses.pairs"
