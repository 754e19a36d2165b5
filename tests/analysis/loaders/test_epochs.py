"""How samplers learn the number of the epoch: a wrong one shuffles alike in each of them."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.loaders.epochs import loop_number
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, plan


def told(made: Plan) -> list[tuple[str, str]]:
    return [(e.sampler, e.number) for e in made.epochs.set_epoch]


FIT = """
def fit(loader, epochs):
    for epoch in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("header", "number"),
    [
        ("for epoch in range(3):", "epoch"),
        ("for i, rate in enumerate([0.1, 0.2]):", "i"),
        ("for epoch in np.arange(3):", "int(epoch)"),
        ("for epoch in tqdm(range(3)):", "epoch"),
        ("for a, b in pairs:", None),
    ],
)
def test_the_number_of_a_turn(header, number):
    cells = ("import numpy as np\nfrom tqdm import tqdm\npairs = [(1, 2), (3, 4)]",)
    made = plan(*BEFORE, *cells, TRAINING.replace("for epoch in range(3):", header))
    (outer,) = (f for f in made.facts.loops.values() if f.backward and not f.parents)
    assert loop_number(made, outer) == number


def test_in_a_function_the_loader_is_told_by_its_name_there():
    assert told(plan(*BEFORE, FIT, "fit(train_loader, 3)")) == [("loader.sampler", "epoch")]


def test_a_loader_that_is_built_anew_in_each_epoch_is_told_where_it_is_built():
    cell = TRAINING.replace(
        "    for x, y in", "    train_loader = DataLoader(train_set, batch_size=10, shuffle=True)\n    for x, y in"
    )
    made = plan(*BEFORE, cell)
    ((place, number),) = [(e.place, e.number) for e in made.epochs.set_epoch]
    assert isinstance(place, ast.Assign)
    assert number == "epoch"


@pytest.mark.parametrize(
    "loop",
    [
        TRAINING.replace("for epoch in range(3):", "if True:"),  # one pass: nothing counts it
        TRAINING.replace("for x, y in train_loader", "for x, y in (next(iter(train_loader)) for _ in range(3))"),
    ],
)
def test_without_a_loop_that_counts_passes_the_sampler_counts_for_itself(loop):
    made = plan(*BEFORE, loop)
    assert told(made) == []
    assert len(made.epochs.reshuffled) == 1


def test_an_order_that_stays_needs_neither():
    made = plan(IMPORTS, DATA.replace("shuffle=True", "shuffle=False"), MODEL, TRAINING)
    assert told(made) == []
    assert not made.epochs.reshuffled
    assert not made.epochs.named


def test_two_loaders_side_by_side_have_seeds_of_their_own():
    data = DATA + "other_loader = DataLoader(train_set, batch_size=10, shuffle=True)\n"
    cell = TRAINING.replace("for x, y in train_loader", "for (x, y), (u, v) in zip(train_loader, other_loader)")
    made = plan(IMPORTS, data, MODEL, cell)
    assert [(e.sampler, e.seed) for e in made.epochs.set_epoch] == [("train_sampler", 0), ("other_sampler", 1)]


def test_a_loop_of_two_trainings_tells_each_its_own():
    cell = TRAINING + TRAINING.replace("epoch", "again")
    assert told(plan(*BEFORE, cell)) == [("train_sampler", "epoch"), ("train_sampler", "again")]
