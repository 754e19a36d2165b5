"""Loops in the abstract: what they draw from, what they do with it, and what one turn leaves for the next."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.values import Extent, LoopFact
from tests.analysis.cells import BEFORE, TRAINING, batch, evaluation, evaluations, extent, node, plan, seen


def loop_over(made: Plan, source: str) -> LoopFact:
    (found,) = (f for f in made.facts.loops.values() if made.program.source(getattr(f.node, "iter", f.node)) == source)
    return found


def test_what_one_turn_leaves_meets_the_next():
    assert seen("before * 1", "n = before * 1", "before = loss.item()", before="before = 0.0") is Extent.MEAN
    assert seen("before * 1", "n = before * 1", "before = epoch", before="before = 0.0") is Extent.UNIFORM


def test_a_loop_that_trains_is_told_from_one_that_watches():
    made = plan(*BEFORE, evaluation("n = 0", "n += len(x)", "print(n)"))
    trains, watches = loop_over(made, "train_loader"), loop_over(made, "test_loader")
    assert (trains.backward, trains.step, len(trains.trained), len(trains.watched)) == (True, True, 1, 0)
    assert (watches.backward, watches.step, len(watches.trained), len(watches.watched)) == (False, False, 0, 1)
    assert watches.parents == {f.node for f in made.facts.loops.values() if f.parents == set()}


def test_backward_under_a_condition_is_no_sure_training():
    made = plan(*BEFORE, TRAINING.replace("loss.backward()", "if len(x) > 2:\n            loss.backward()"))
    fact = loop_over(made, "train_loader")
    assert (len(fact.trained), len(fact.perhaps)) == (0, 1)


@pytest.mark.parametrize(
    ("source", "named", "opaque"),
    [
        ("range(3)", False, False),
        ("['a', 'b']", True, False),
        ("[1, 2]", False, False),
        ("[0.1, 0.01]", True, False),
        ("{'a': 1}.items()", True, False),
        ("input()", False, True),
    ],
)
def test_turns_of_numbers_of_names_and_of_what_is_not_known(source, named, opaque):
    made = plan(*BEFORE, TRAINING.replace("range(3)", source))
    fact = loop_over(made, source)
    assert (fact.named, fact.opaque) == (named, opaque)


def test_a_while_loop_that_draws_by_next_leaves_its_shares():
    cell = (
        "batches = iter(train_loader)\nstep = 0\nlast = 0.0\nwhile step < 5:\n    x, y = next(batches)\n"
        "    loss = F.cross_entropy(model(x), y)\n    optimizer.zero_grad()\n    loss.backward()\n"
        "    optimizer.step()\n"
        "    last += loss.item()\n    step += 1\nprint(last)\n"
    )
    made = plan(*BEFORE, cell)
    assert {r.name: r.how for r in made.facts.reductions.values()} == {"last": "mean"}
    assert extent(made, "step") is Extent.UNIFORM
    assert node(made, ast.While, cell[cell.index("while") : cell.rindex("\nprint")])


@pytest.mark.parametrize("ends", ["", "    else:\n        last = 0\n"])
def test_what_is_set_before_a_break_is_there_behind_the_loop(ends):
    """Whatever an `else` makes of it for those that have not broken off."""
    breaks = "        if epoch:\n            last = loss.item()\n            break\n"
    made = plan(*BEFORE, f"last = None\n{TRAINING}{breaks}{ends}    print(last)\n")
    assert {r.name: r.how for r in made.facts.reductions.values()} == {"last": "mean"}


def nested(loops: int, kind: str) -> str:
    if kind == "[]":
        return "n = " + "[" * loops + "1" + "".join(f" for i{n} in range(3)]" for n in range(loops))
    heads = [f"{'    ' * n}{kind.format(n=n)}\n" for n in range(loops)]
    return "n = 1.0\n" + "".join(heads) + f"{'    ' * loops}n = n + 0.1\n"


@pytest.mark.parametrize("kind", ["for i{n} in range(2):", "while n < {n}:", "[]"])
def test_loops_in_loops_do_not_multiply(kind):
    small, large = evaluations(nested(5, kind)), evaluations(nested(10, kind))
    assert large < 6 * small  # and not 2 ** 5 times as many


TURN = """torch.manual_seed(0)
net = nn.Linear(2, 2)
net.train() if kind == "a" else None
net.eval()
rows.append({"row": 1, **{str(n): n for n in [1, 2]}})"""


def grid(*lists: str) -> int:
    """What a search costs, each turn of which makes a model and changes state that the next changes back."""
    loops = [f"{'    ' * n}for n{n} in {one}:" for n, one in enumerate(lists)]
    turn = [f"{'    ' * len(lists)}{line}" for line in TURN.split("\n")]
    return evaluations(*BEFORE, 'rows, kind = [], "b"', "\n".join([*loops, *turn]))


def test_each_list_more_in_a_search_through_a_grid_costs_the_same():
    costs = [grid(*["[1, 2, 3]"] * lists) for lists in (2, 4, 6)]
    assert costs[2] - costs[1] < 1.2 * (costs[1] - costs[0])


def test_of_lists_of_names_in_each_other_not_all_turns_are_run_one_by_one():
    two, six = (grid(*["['a', 'b', 'c', 'd']"] * lists) for lists in (2, 6))
    assert six < 2 * two


def test_functions_with_loops_that_call_each_other_cost_as_much_as_their_text():
    function = "def f{n}(x):\n    for k in range(3):\n        y = {{'a': x, 'b': f{m}(k)}}\n    return y\n"

    def cost(size: int) -> int:
        chain = "".join(function.format(n=n, m=n - 1) for n in range(1, size))
        return evaluations("def f0(x):\n    return x\n" + chain, f"f{size - 1}(1)")

    costs = [cost(size) for size in (5, 10, 15)]
    assert costs[2] - costs[1] < 2 * (costs[1] - costs[0])


@pytest.mark.parametrize(("test", "trained"), [("stage == 2", 1), ("epoch == 2", 0)])
def test_numbers_are_told_apart_where_a_condition_asks_for_them(test, trained):
    inside = TRAINING.replace("loss.backward()", f"if {test}:\n            loss.backward()").strip()
    made = plan(*BEFORE, "for stage in [2, 3]:\n" + "\n".join(f"    {line}" for line in inside.split("\n")))
    assert len(loop_over(made, "train_loader").trained) == trained


@pytest.mark.parametrize(
    ("source", "number"),
    [
        ("range(3)", True),
        ("tqdm.tqdm(range(3))", True),
        ("reversed(range(3))", True),
        ("torch.arange(3)", False),
        ("torch.tensor(range(3))", False),
    ],
)
def test_what_counts_gives_numbers(source, number):
    made = plan(*BEFORE, "import math, tqdm", batch(f"for n in {source}:", "    m = math.exp(n / 3) + 1"))
    assert made.facts.value(node(made, ast.BinOp, "math.exp(n / 3) + 1")).number is number
