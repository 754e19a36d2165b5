"""Which statements seed a generator, and which draw from one."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from nbddp.analysis.reading import Definition, draws, drops_asleep, generators, seeds, surely_draws
from nbddp.analysis.reading.random_draws import drawn_from, seeded_generator
from tests.analysis.cells import BEFORE, TRAINING, plan

FIRST = """import random
import numpy as np
import other

def seed_all():
    torch.manual_seed(0)
    np.random.seed(0)

prior = torch.distributions.Normal(0, 1)

def noise():
    return torch.randn(3) + random.random()

def seen(data):
    loader = torch.utils.data.DataLoader(data)
    return [x for x in loader]

def seen_at_once(data):
    return [x for x in torch.utils.data.DataLoader(data)]
"""


def told(line: str) -> tuple[set[str], set[str], set[str]]:
    made = plan(*BEFORE[:1], FIRST, *BEFORE[1:], f"k = 1\n{line}", TRAINING.replace("range(3)", "range(3 if k else 3)"))
    statement = next(s for s in made.program.statements if made.program.source(s.node) == line)
    definitions = {s.node.name: s.node for s in made.program.statements if isinstance(s.node, Definition)}
    first, *others = (asked(made, statement.node, definitions) for asked in (seeds, draws, surely_draws))
    return {s.value for s in first}, *({s.value for s in found} for found in others)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torch.manual_seed(1)", {"torch"}),
        ("seed_all()", {"torch", "numpy"}),
        ("torch.manual_seed", set()),
        ("k = 2", set()),
    ],
)
def test_seeds(line, expected):
    assert told(line)[0] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("k = torch.randn(3)", {"torch"}),
        ("k = nn.Linear(4, 1)", {"torch"}),
        ("k = noise()", {"torch", "random"}),
        ("k = np.random.rand()", {"numpy"}),
        ("k = next(iter(train_loader))", {"torch"}),
        ("k = [len(x) for x, y in train_loader]", {"torch"}),
        ("k = seen([1, 2])", {"torch"}),
        ("k = prior.sample((3,))", {"torch"}),
        ("k = torch.zeros(3).normal_()", {"torch"}),
        ("k = frame.sample(3)", set()),
        ("k = seen_at_once([1, 2])", {"torch"}),
    ],
)
def test_what_surely_draws(line, expected):
    assert told(line)[2] == expected


@pytest.mark.parametrize(
    "line",
    ["k = torch.ones(3)", "k = nn.ReLU()", "k = len(train_loader)", "k = torch.randn(3, generator=torch.Generator())"],
)
def test_what_does_not(line):
    assert told(line)[2] == set()


def test_what_is_not_known_may_draw_anything():
    assert told("k = other.thing()")[1:] == ({"torch", "numpy", "random"}, set())


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


MODEL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.dropout = nn.Linear(8, 2), nn.Dropout(0.2)

    def forward(self, x):
        return self.layer({line})


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("line", "drops"),
    [
        ("nn.Dropout(0.2)(x)", True),
        ("F.dropout(x)", True),
        ("F.dropout(x, 0.2, True)", True),
        ("torch.dropout(x, 0.2, train=True)", True),
        ("nn.Identity()(x)", False),
        ("F.dropout(x, 0.2, self.training)", False),
        ("F.dropout(x, training=self.training)", False),
        ("self.dropout(x)", False),
    ],
)
def test_what_draws_in_evaluation_mode_too(line: str, drops: bool) -> None:
    """Also where the model is made in a loop around all, as for each fold."""
    training = f"for fold in range(2):\n{indent(MODEL.format(line=line), ' ' * 4)}{indent(TRAINING, ' ' * 4)}"
    made = plan(*BEFORE[:2], training)
    assert any(drops_asleep(made, fact) for fact in made.facts.calls.values()) is drops
