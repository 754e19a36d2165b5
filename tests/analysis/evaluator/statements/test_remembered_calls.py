"""Calls that would change nothing are not run again; all others are, and what they leave is the same."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, batch, evaluations, extent, plan, seen

CALLS = "\ndef f1(x):\n    return f0(x) + f0(x)\n\ndef f2(x):\n    return f1(x) + f1(x)\n\n"


def again(body: str, *, before: str = "") -> int:
    """How much a third call in the same place costs, after two in which all is found."""
    text = f"{before}\ndef f0(x):\n{body}\n{CALLS}"
    turns = [evaluations(text + "for turn in range(2):\n    n = [" + "f2(1.0), " * times + "]\n") for times in (1, 2)]
    return turns[1] - turns[0]


def test_a_call_that_changes_nothing_costs_less_than_one_that_does():
    assert again("    return x * 2") < again("    return {'a': x}")


def looping(size: int) -> int:
    """What functions cost that each call the three before in a loop, as many ways as there are through them."""
    functions = ["def f0(x):\n    return x * 2"]
    for n in range(1, size):
        calls = "".join(f"        x = f{m}(x)\n" for m in range(n - 1, max(n - 4, -1), -1))
        functions.append(f"def f{n}(x):\n    for k in range(3):\n{calls}    return x")
    return evaluations("\n".join(functions) + f"\nn = f{size - 1}(1.0)\n")


def test_a_function_is_not_run_for_each_way_through_loops_that_leads_to_it():
    assert looping(12) < 12 * looping(6)  # where all ways are gone, 44 times


METER = "class Meter:\n    value = 0.0\n\nmeter = Meter()\nmeter.value = 0.0\n"


@pytest.mark.parametrize(
    ("before", "read", "change"),
    [
        ("total = 0.0\n", "total", "total = loss.item()"),
        (METER, "meter.value", "meter.value = loss.item()"),
        ("kept = []\n", "kept[0]", "kept.append(loss.item())"),
    ],
)
def test_what_has_changed_since_is_seen_by_a_call_alike(before, read, change):
    before += f"\ndef read():\n    return {read}\n"
    lines = ("a = [read() for _ in range(2)]", "for _ in range(2):", "    b = read()", change, "n = read()")
    assert seen("read()", *lines, before=before) is Extent.MEAN


def test_names_of_a_function_around_are_looked_up_each_time():
    before = (
        "def outer(v):\n    def inner():\n        return kept\n"
        "    kept = 0.0\n    inner()\n    inner()\n    kept = v\n    return inner()\n"
    )
    made = plan(*BEFORE, before, batch("n = outer(loss.item())"))
    assert extent(made, "outer(loss.item())") is Extent.MEAN


def test_a_remembered_call_trains_all_loops_around_it():
    before = "def step(x, y):\n    loss = F.cross_entropy(model(x), y)\n    loss.backward()\n    optimizer.step()\n"
    training = "for lr in range(2):\n    for x, y in train_loader:\n        step(x, y)\n        step(x, y)\n"
    made = plan(*BEFORE, before, training)
    assert [(f.backward, len(f.trained)) for f in made.facts.loops.values()] == [(True, 0), (True, 1)]
