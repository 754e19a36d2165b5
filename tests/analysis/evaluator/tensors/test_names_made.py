"""What names are set to."""

from __future__ import annotations

import ast

from nbddp.analysis.evaluator.tensors.names_made import sources_of
from tests.analysis.cells import program


def test_sources() -> None:
    made = program("a = f(1)\na += 2\nfor i, (b, c) in enumerate(g):\n    d = c\nwith open(n) as e:\n    h, k = e")
    found = {name: [_written(s) for s in sources] for (_, name), sources in sources_of(made).items()}
    assert found == {
        "a": ["f(1)", "2"], "b": ["enumerate(g) 0"], "c": ["enumerate(g) 1"], "d": ["c"], "e": ["?"], "h": ["?"],
        "i": ["enumerate(g) 0"], "k": ["?"],
    }  # fmt: skip


def _written(source: ast.expr | tuple[ast.expr, int] | None) -> str:
    if isinstance(source, tuple):
        return f"{ast.unparse(source[0])} {source[1]}"
    return ast.unparse(source) if source is not None else "?"
