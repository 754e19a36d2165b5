"""A lambda with a name, written as the function that it is; what is not one statement on its line stays."""

from __future__ import annotations

import pytest

from nbddp.notebook import notebook_from_percent, with_definitions


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("f = lambda x: A + x * net(x)", "def f(x): return A + x * net(x)"),
        ("f = lambda x, scale=(1 + 2): (x * scale)  # twice", "def f(x, scale=1 + 2): return (x * scale)  # twice"),
        ("f = lambda: ({1: 2}[1])", "def f(): return ({1: 2}[1])"),
        ("f = lambda *a, **k: net(*a)[0:1]", "def f(*a, **k): return net(*a)[0:1]"),
        ("if ready:\n    f = lambda x: (x +\n        1)", "if ready:\n    def f(x): return (x +\n        1)"),
        ("é = 1; f = lambda x: x", "é = 1; f = lambda x: x"),
        ("f = lambda x: x; g = 2", "f = lambda x: x; g = 2"),
        ("if ready: f = lambda x: x", "if ready: f = lambda x: x"),
        ("f = (lambda x: x)", "f = (lambda x: x)"),
        ("f = g = lambda x: x", "f = g = lambda x: x"),
        ("self.f = lambda x: x", "self.f = lambda x: x"),
        ("f = lambda x: \\\n    x", "f = lambda x: \\\n    x"),
    ],
)
def test_what_has_a_name(code: str, expected: str) -> None:
    found = with_definitions(notebook_from_percent(f"# %%\n{code}\n", "a.py"))
    assert found.cells[0].code.rstrip("\n") == expected


def test_a_notebook_without_any_is_as_it_was() -> None:
    notebook = notebook_from_percent("# %%\nx = sorted(y, key=lambda v: -v)\n", "a.py")
    assert with_definitions(notebook) is notebook
