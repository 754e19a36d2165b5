"""Names replaced where they are names, and nowhere else."""

from __future__ import annotations

import pytest

from nbddp.script.rename import import_as, renamed


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b.a(a=a)", "x = b.a(a=x)"),
        ("def a(c):\n    return a", "def x(c):\n    return x"),
        ("@a\nclass  a(a):\n    pass", "@x\nclass  x(x):\n    pass"),
        ("'a'; f'{a} a'", "'a'; f'{x} a'"),
        ("é = 'é'; a = a + é  # a", "é = 'é'; x = x + é  # a"),
        ("aa = ab", "aa = ab"),
    ],
)
def test_names_are_replaced(source, expected):
    assert renamed(source, {"a": "x"}) == expected


def test_two_names_may_change_places():
    assert renamed("a = b", {"a": "b", "b": "a"}) == "b = a"


@pytest.mark.parametrize(
    ("line", "name", "expected"),
    [
        ("import os", "os", "import os"),
        ("import os", "o", "import os as o"),
        ("import torch.distributed as dist", "d", "import torch.distributed as d"),
        ("from types import SimpleNamespace", "N", "from types import SimpleNamespace as N"),
        ("from types import SimpleNamespace", "SimpleNamespace", "from types import SimpleNamespace"),
    ],
)
def test_an_import_binds_another_name(line, name, expected):
    assert import_as(line, name) == expected
