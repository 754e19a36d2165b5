"""The same cells as IPython itself would run: its transformer is the judge, over cells put together at random."""

from __future__ import annotations

import ast
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nbddp.notebook import cell_from_source

ipython = pytest.importorskip("IPython.core.inputtransformer2", reason="the light environments have no IPython")

LINES = [
    "x = 1",
    "if x:",
    "    y = 2",
    "else:",
    "    pass",
    "def f(a,",
    "b):",
    "    return f\"{a!r:>10} {d['k']}\"",
    "class A:",
    "try:",
    "except E: pass",
    "@dec",
    "async def g():",
    "    await h()",
    "z = [",
    "  1,",
    "]",
    "w = (a",
    "%b)",
    "'''",
    '"""',
    "u = '''a",
    "b'''",
    "t = 'it''s'",
    "s = f'{x",
    "f'''{x} {",
    "}'''",
    'f"{x}{{" + "}"',
    "r'\\'",
    "v = {1: '(', 2: \"[\"}",
    "# c",
    "# it's",
    "# ?foo",
    "x  # foo?",
    "a = b \\",
    " + c",
    "",
    "!ls",
    "!echo 'a",
    '!echo "',
    "    !pip install 'a",
    "!ls \\",
    "!",
    "%matplotlib inline",
    "    %matplotlib inline",
    "\t%foo",
    "%b",
    "x = !ls",
    'x[0] = !ls "',
    "(p, q) = %foo",
    "y: int = %foo",
    "    z = %foo bar",
    "x += !ls",
    "x == !ls",
    "f(x=1) = !ls",
    "x = 5 ; !ls",
    "if x: !ls",
    "?foo",
    ",f a b",
    ";f a b",
    "/f a b",
]


class Judged(ast.NodeTransformer):
    """Every form that a magic takes on either side becomes the same."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        return ast.Pass() if "get_ipython" in ast.dump(node) else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = ast.dump(node.func)
        if "'get_ipython'" in function or "'splitlines'" in function:
            return ast.Constant(None)
        self.generic_visit(node)
        return node


def judged(code: str) -> str:
    """The code's meaning apart from magics; SyntaxError where IPython, statement by statement, raises it."""
    tree = ast.parse(code)
    for node in tree.body:
        compile(ast.Module([node], []), "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return ast.dump(Judged().visit(tree))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=6).map("\n".join))
def test_ipython_runs_the_same(source: str) -> None:
    assume(not re.match(r"([ \t]*(#.*)?\n)*[ \t]", source))  # older IPythons were more lenient, and so is nbddp
    cell = cell_from_source(source)
    try:
        expected = judged(ipython.TransformerManager().transform_cell(source))
    except SyntaxError:
        assert cell.error is not None
        return
    assert cell.error is None
    assert judged(cell.code) == expected
