"""What a piece of code reads and binds."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing import Effects, effects


def of(source: str) -> Effects:
    return effects(ast.parse(source).body, {})


@pytest.mark.parametrize(
    ("source", "reads", "binds"),
    [
        ("a = b", {"b"}, {"a"}),
        ("a += b", {"a", "b"}, {"a"}),
        ("a = 1\nb = a", set(), {"a", "b"}),
        ("(a, [b, *c]) = d", {"d"}, {"a", "b", "c"}),
        ("a: int = b", {"b", "int"}, {"a"}),
        ("a: int", {"int"}, set()),
        ("print(n := f(x))", {"print", "f", "x"}, {"n"}),
        ("[i + k for i in range(n)]", {"range", "n", "k"}, set()),
        ("[y := f(i) for i in xs]", {"f", "xs"}, {"y"}),
        ("{k: v for k, v in pairs if k != skip}", {"pairs", "skip"}, set()),
        ("with open(p) as f:\n    data = f.read()", {"open", "p"}, {"f", "data"}),
        ("for i in xs:\n    last = i", {"xs"}, {"i", "last"}),
        ("import os.path as p, sys", set(), {"p", "sys"}),
        ("from a.b import c as d", set(), {"d"}),
        ("class A(B):\n    n = 3\n    m = n", {"B"}, {"A"}),
        ("match a:\n    case [x, *rest]:\n        b = x", {"a"}, set()),
    ],
)
def test_reads_and_binds(source, reads, binds):
    found = of(source)
    assert (found.reads, found.binds) == (reads, binds)


def test_a_branch_binds_only_what_both_sides_bind():
    found = of("if c:\n    a = b = 1\nelse:\n    a = 2")
    assert found.binds == {"a"}
    assert found.may_bind == {"a", "b"}


def test_a_branch_that_leaves_does_not_count():
    assert of("if c:\n    raise ValueError\nelse:\n    a = 2").binds == {"a"}


def test_what_a_handler_does_not_bind_is_not_sure():
    found = of("try:\n    a = 1\n    b = 2\nexcept OSError as e:\n    a = 3")
    assert found.binds == {"a"}
    assert "b" in found.may_bind


def test_a_function_defers_what_its_body_does():
    found = of(
        "def f(x):\n    global count\n    count += 1\n    local = x\n    seen.append(local)\n    return scale * x"
    )
    assert (found.reads, found.binds) == (set(), {"f"})
    assert found.deferred >= {"scale", "seen"}
    assert found.deferred_mutates == {"count", "seen"}


def test_defaults_and_decorators_run_at_the_definition():
    found = of("@cache\ndef f(x=start):\n    return later")
    assert found.reads == {"cache", "start"}
    assert found.deferred == {"later"}


def test_names_of_a_class_body_are_not_seen_by_its_methods():
    found = of("class A:\n    size = 3\n    def f(self):\n        return size")
    assert found.deferred == {"size"}
