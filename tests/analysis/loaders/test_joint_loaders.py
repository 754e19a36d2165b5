"""Loaders that one loop draws from side by side."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.loaders.joint_loaders import find_seeds
from tests.analysis.cells import DATA, IMPORTS, MODEL, TRAINING, plan

OTHER = "other_loader = DataLoader(train_set, batch_size=10, shuffle={})\n"
HEADER = "for x, y in train_loader"
BOTH = "for (x, y), (u, v) in zip(train_loader, other_loader)"


def made(header: str, shuffle: bool = True, after: str = "") -> Plan:
    return plan(IMPORTS, DATA + OTHER.format(shuffle) + after, MODEL, TRAINING.replace(HEADER, header))


def seeds(of: Plan) -> dict[str, int]:
    return {of.program.source(of.program.statement_of(o.node).targets[0]): n  # type: ignore[attr-defined]
            for o, n in find_seeds(of).fixed.items()}  # fmt: skip


def test_the_second_has_a_seed_of_its_own():
    assert seeds(made(BOTH)) == {"other_loader": 1}


def test_one_that_does_not_shuffle_has_an_order_of_its_own_anyway():
    assert seeds(made(BOTH, shuffle=False)) == {}


def test_alone_in_its_loop_it_needs_none():
    assert seeds(made(HEADER)) == {}


@pytest.mark.parametrize(("header", "twice"), [(BOTH.replace("other", "train"), 1), (BOTH, 0), (HEADER, 0)])
def test_a_loader_that_a_loop_goes_through_twice_at_once(header, twice):
    assert len(find_seeds(made(header)).twice) == twice


def test_loaders_that_one_call_builds_draw_their_seeds():
    cells = "loaders = [DataLoader(train_set, batch_size=10, shuffle=True) for _ in range(2)]\n"
    cell = TRAINING.replace(HEADER, "for (x, y), (u, v) in zip(*loaders)")
    found = find_seeds(plan(IMPORTS, DATA + cells, MODEL, cell))
    assert found.drawn
    assert not found.fixed
