"""The abstract run, repeated with what it has found."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from nbddp.analysis.reading import Run, settled
from nbddp.analysis.values import Assumptions, Extent
from nbddp.diagnostics import CannotExport
from tests.analysis.cells import BEFORE, TRAINING, batch, evaluation, extent, node, plan


def test_an_evaluation_that_has_to_be_whole_is_found_by_running_again():
    made = plan(*BEFORE, evaluation("n = 0.0", "n = max(n, x.max().item())", "print(n)"))
    assert len(made.assumed.whole) == 1
    assert extent(made, "max(n, x.max().item())") is Extent.REPEATED


def test_of_one_that_is_dealt_out_nothing_is_assumed():
    made = plan(*BEFORE, evaluation("n = 0", "n += len(x)", "print(n)"))
    assert not made.assumed.whole
    assert not made.assumed.mixed


def test_a_loop_that_trains_on_one_loader_and_watches_another():
    cell = """
    for epoch in range(3):
        for phase, loader in [("train", train_loader), ("test", test_loader)]:
            for x, y in loader:
                loss = F.cross_entropy(model(x), y)
                if phase == "train":
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
    """
    made = plan(*BEFORE, cell)
    (trained,) = made.assumed.mixed.values()
    assert [made.program.source(o.node) for o in trained] == ["DataLoader(train_set, batch_size=10, shuffle=True)"]


def test_what_it_is_told_to_take_for_granted_counts():
    made = plan(*BEFORE, batch("n = x.max() > 3"))
    test = node(made, ast.Compare, "x.max() > 3")
    facts = made.under(replace(made.assumed, whole_sizes=frozenset({test}))).facts
    assert made.facts.value(test).extent is Extent.VARYING
    assert facts.value(test).extent is Extent.UNIFORM


def test_numbers_of_a_parameters_cell_may_come_from_the_command_line():
    cell = '# %% tags=["parameters"]\nepochs = 3\nname = "a"'
    made = plan(*BEFORE, cell, TRAINING.replace("range(3)", "range(epochs)"))
    assert made.facts.final["epochs"].const is None
    assert plan(*BEFORE, "epochs = 3", TRAINING.replace("range(3)", "range(epochs)")).facts.final["epochs"].const == 3


def test_two_runs_of_the_same_cells_find_the_same():
    made = plan(*BEFORE, batch("log = [loss.item()]"))
    once, again = (made.under(Assumptions()).facts for _ in range(2))
    assert {n: v.extent for n, v in once.values.items()} == {n: v.extent for n, v in again.values.items()}


def test_it_is_run_again_until_nobody_has_anything_to_add():
    tests = iter([ast.Constant(1), ast.Constant(2)])
    seen: list[int] = []

    def one_more(run: Run) -> Assumptions:
        seen.append(len(run.assumed.agreed))
        test = next(tests, None)
        return run.assumed if test is None else replace(run.assumed, agreed=run.assumed.agreed | {test})

    found = settled(plan(*BEFORE, TRAINING), (lambda run: run.assumed, one_more))
    assert len(found.assumed.agreed) == 2
    assert seen == [0, 1, 2]


def test_what_never_settles_is_refused():
    with pytest.raises(CannotExport, match="too complex"):
        settled(plan(*BEFORE, TRAINING), (lambda run: replace(run.assumed),))
