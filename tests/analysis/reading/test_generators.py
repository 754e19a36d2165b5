"""Generators of the notebook's own: which names they have, what makes them begin anew, and what draws from them."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.reading.generators import drawn_from, generators, seeded_generator
from tests.analysis.cells import BEFORE, TRAINING, plan

MODEL = "model = nn.Linear(8, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
TORCHS, NUMPYS = "g = torch.Generator()\n", "import numpy as np\ng = np.random.default_rng(0)\n"


def with_lines(lines: str):
    return plan(*BEFORE, lines + "\n" + MODEL, TRAINING)


def last_of(made, lines: str) -> ast.stmt:
    text = lines.rsplit("\n", maxsplit=1)[-1]
    return next(s.node for s in made.program.statements if made.program.source(s.node) == text)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (TORCHS, {"g"}),
        ("g = torch.Generator().manual_seed(0)", {"g"}),
        (NUMPYS, {"g"}),
        ("import random\ng = random.Random(1)", {"g"}),
        ("import numpy as np\ng = np.random.default_rng()", set()),  # another stream each time: nobody counts on it
        ("g = nn.Linear(8, 2)", set()),
    ],
)
def test_their_names(lines, expected):
    assert generators(with_lines(lines)) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("g = torch.Generator()", {"g"}),
        (TORCHS + "g.manual_seed(7)", {"g"}),
        (TORCHS + "other = g.initial_seed()", set()),
        ("import random\nrandom.seed(7)", set()),  # everybody's
    ],
)
def test_what_sets_them_back_to_a_beginning(lines, expected):
    made = with_lines(lines)
    assert seeded_generator(made, last_of(made, lines)) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (TORCHS + "other = torch.rand(2, generator=g)", {"g"}),
        (TORCHS + "other = torch.rand(2)", set()),
        (NUMPYS + "other = g.normal(0, 1)", {"g"}),
        (TORCHS + "other = g.initial_seed()", set()),
        (TORCHS + "g.manual_seed(7)", set()),
    ],
)
def test_what_draws_from_them(lines, expected):
    made = with_lines(lines)
    call = last_of(made, lines).value
    assert drawn_from(made, call) == expected
