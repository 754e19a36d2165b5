"""What calling a function of the notebook changes: what is missed leaves out a statement that the training needs."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.slicing.function_effects import Summary, definitions, reachable, summaries

IMPORTS = {"torch": "torch", "nn": "torch.nn"}


def of(text: str, name: str = "f") -> Summary:
    return summaries(ast.parse(text).body, IMPORTS)[name]


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("a.append(1)", {"a"}),
        ("a[0] = 1", {"a"}),
        ("a.weight = 1", {"a"}),
        ("nn.init.zeros_(a.bias)", {"a"}),
        ("for p in a.parameters():\n        p.requires_grad = False", {"a"}),
        ("c = a\n    c.append(1)", {"a"}),
        ("g(a)", {"a"}),
        ("a.load_state_dict(b)", {"a"}),
        ("def inner():\n        a.append(1)\n    inner()", {"a"}),
        ("def inner(a):\n        a.append(1)\n    inner([])", set()),
        ("return a.sum()", set()),
        ("a = a / 2\n    return a", set()),
        ("print(a)", set()),
        ("c = []\n    c.append(a.sum())\n    return c", set()),
        ("return len(a), b", set()),
    ],
)
def test_arguments_that_a_call_changes(body, changed):
    assert of(f"def g(x):\n    x.append(1)\n\ndef f(a, b=None):\n    {body}\n").changes.changed == changed


def test_a_change_is_seen_through_functions_whatever_their_order():
    text = "def f(a):\n    g(a)\n\ndef g(b):\n    h(b)\n\ndef h(c):\n    c.append(1)\n"
    assert of(text).changes.changed == {"a"}


def test_functions_that_call_each_other_come_to_an_end():
    text = "def f(a):\n    g(a)\n\ndef g(b):\n    f(b)\n"
    assert of(text).changes.changed == frozenset()


def test_of_two_functions_of_one_name_what_either_does():
    text = "def f(a):\n    return a\n\ndef f(a):\n    a.append(1)\n"
    assert of(text).changes.changed == {"a"}


def test_a_class_is_known_by_what_making_one_does():
    text = "class A:\n    def __init__(self, data):\n        data.append(1)\n        self.data = data\n"
    assert of(text, "A").changes.parameters == ("data",)
    assert of(text, "A").changes.changed == {"data"}


@pytest.mark.parametrize(("body", "ambient"), [("torch.manual_seed(0)", True), ("return torch.zeros(3)", False)])
def test_what_changes_the_world(body, ambient):
    assert of(f"def f():\n    {body}\n").ambient is ambient


def test_functions_that_a_call_may_run():
    found = summaries(ast.parse("def f():\n    g()\n\ndef g():\n    f()\n\ndef h():\n    pass\n").body, IMPORTS)
    assert reachable("f", found) == {"f", "g"}
    assert reachable("h", found) == {"h"}
    assert reachable("nowhere", found) == set()


def test_definitions_by_name():
    text = "def f(): pass\nclass A:\n    def __init__(self): pass\n    def g(self): pass\nx = 1\n"
    assert [name for name, _ in definitions(ast.parse(text).body)] == ["f", "A"]
