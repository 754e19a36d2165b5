"""Which statements seed a generator, and which draw from one."""

from __future__ import annotations

import pytest

from nbddp.analysis.reading import Definition, draws, seeds, surely_draws
from tests.analysis.cells import BEFORE, TRAINING, plan

FIRST = """import random
import numpy as np
import other

def seed_all():
    torch.manual_seed(0)
    np.random.seed(0)

def noise():
    return torch.randn(3) + random.random()
"""


def told(line: str) -> tuple[set[str], set[str], set[str]]:
    made = plan(*BEFORE[:1], FIRST, *BEFORE[1:], f"k = 1\n{line}", TRAINING.replace("range(3)", "range(3 if k else 3)"))
    statement = next(s for s in made.program.statements if made.program.source(s.node) == line)
    definitions = {s.node.name: s.node for s in made.program.statements if isinstance(s.node, Definition)}
    first, *others = (asked(made, statement.node, definitions) for asked in (seeds, draws, surely_draws))
    return {s.value for s in first}, *({s.value for s in found} for found in others)


@pytest.mark.parametrize(
    ("line", "generators"),
    [
        ("torch.manual_seed(1)", {"torch"}),
        ("seed_all()", {"torch", "numpy"}),
        ("torch.manual_seed", set()),
        ("k = 2", set()),
    ],
)
def test_seeds(line, generators):
    assert told(line)[0] == generators


@pytest.mark.parametrize(
    ("line", "generators"),
    [
        ("k = torch.randn(3)", {"torch"}),
        ("k = nn.Linear(4, 1)", {"torch"}),
        ("k = noise()", {"torch", "random"}),
        ("k = np.random.rand()", {"numpy"}),
        ("k = next(iter(train_loader))", {"torch"}),
        ("k = [len(x) for x, y in train_loader]", {"torch"}),
    ],
)
def test_what_surely_draws(line, generators):
    assert told(line)[2] == generators


@pytest.mark.parametrize(
    "line",
    ["k = torch.ones(3)", "k = nn.ReLU()", "k = len(train_loader)", "k = torch.randn(3, generator=torch.Generator())"],
)
def test_what_does_not(line):
    assert told(line)[2] == set()


def test_what_is_not_known_may_draw_anything():
    assert told("k = other.thing()")[1:] == ({"torch", "numpy", "random"}, set())
