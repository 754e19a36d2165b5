"""What a name may be set to."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.agreement.sources import sources
from tests.analysis.cells import BEFORE, batch, nodes, plan


def found(*lines: str, before: str = "pass", name: str = "n") -> list[str | None]:
    made = plan(*BEFORE, before, batch(*lines))
    names = [node for node in nodes(made, ast.Name, name) if isinstance(node.ctx, ast.Load)]
    return [None if s is None else ast.unparse(s).split("\n")[0] for s in sources(made, names[-1])]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["n = 1", "n += 2", "print(n)"], ["1", "2"]),
        (["n, other = 1, 2", "print(n)"], ["1"]),
        (["n, other = pair", "print(n)"], ["pair"]),
        (["n: int = 3", "print(n)"], ["3"]),
        (["for n in range(2):", "    print(n)"], ["for n in range(2):"]),
        (["with open('a') as n:", "    print(n)"], [None]),
        (["print(n)"], []),
    ],
)
def test_what_a_function_sets_it_to(lines, expected):
    assert found(*lines) == expected


def test_those_who_call_it_set_its_arguments():
    function = "def show(n, m=1):\n    print(n)\n"
    assert found("show(loss)", "show(m=2, n=epoch)", before=function) == ["loss", "epoch"]
    assert found("show(*loss)", before=function) == [None]
    assert found("pass", before=function) == [None]


def test_a_name_of_another_function_is_another():
    assert found("n = 1", "print(n)", before="def other():\n    n = 2\n    return n") == ["1"]
