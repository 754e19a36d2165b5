"""What draws random numbers after a seed is kept, or known to be left out."""

from __future__ import annotations

import pytest

from nbddp.analysis.reading import draws_left_out
from tests.analysis.cells import BEFORE, IMPORTS, TRAINING, plan

SEEDED, MODEL = (
    "torch.manual_seed(0)\n",
    "model = nn.Linear(8, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
)


def fate(lines: str) -> str:
    """Of the last of these lines, between the seed and the model."""
    made = plan(*BEFORE, SEEDED + lines + "\n" + MODEL, TRAINING)
    last = lines.rsplit("\n", maxsplit=1)[-1]
    if last in [made.program.source(s.node) for s in made.kept]:
        return "kept"
    return "known" if last in [made.program.source(s.node) for s in draws_left_out(made)] else "left out"


NET = """class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 2)
    def forward(self, x):
        return self.fc(x)
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("other = nn.Linear(8, 2)", "kept"),
        ("print(torch.rand(2))", "kept"),
        ("width = 3\nother = nn.Linear(8, width)", "kept"),
        ("import matplotlib.pyplot as plt\nplt.plot(torch.rand(2))", "known"),
        ("import matplotlib.pyplot as plt\nfigure = plt.figure()\nfigure.number = torch.rand(2)", "known"),
        ("batch = next(iter(train_loader))", "known"),
        ("batches = iter(train_loader)\nbatch = next(batches)", "known"),
        ("first = nn.Linear(8, 2)\nprint(first(torch.rand(2, 8)))", "kept"),
        (f"{NET}other = Net(8)", "kept"),
        ("steps = iter([1])\nstep = next(steps)", "left out"),
        ("import pandas as pd\ntable = pd.DataFrame([1.0])\ntable.plot(torch.randn(2))", "known"),
        ("stream = torch.Generator()\nother = torch.rand(2, generator=stream)", "left out"),
        ("other = torch.zeros(8)", "left out"),
    ],
)
def test_what_becomes_of_it(lines, expected):
    assert fate(lines) == expected


NOISY = """class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return torch.randn(8), 1
"""
LOOK = "def look(data):\n    print(data[0])\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("first = train_set[0]", "kept"),
        ("import matplotlib.pyplot as plt\nplt.plot(train_set[0][0])", "known"),
        (f"{LOOK}look(train_set)", "kept"),
        ("n = len(train_set)", "left out"),
    ],
)
def test_a_look_at_an_item_that_is_drawn(lines, expected):
    loader = "train_set = Noisy()\ntrain_loader = DataLoader(train_set, batch_size=4)\n"
    made = plan(*BEFORE, NOISY + SEEDED + loader + lines + "\n" + MODEL, TRAINING)
    last = lines.rsplit("\n", maxsplit=1)[-1]
    kept = last in [made.program.source(s.node) for s in made.kept]
    known = last in [made.program.source(s.node) for s in draws_left_out(made)]
    assert ("kept" if kept else "known" if known else "left out") == expected


def test_without_a_seed_or_a_later_draw_nothing_counts_on_it():
    made = plan(*BEFORE, "other = nn.Linear(8, 2)\n" + MODEL, TRAINING)
    assert list(draws_left_out(made)) == []
    assert "other = nn.Linear(8, 2)" not in [made.program.source(s.node) for s in made.kept]


GENERATOR = "stream = torch.Generator().manual_seed(1)\n"
DRAWS = "first = torch.rand(2, generator=stream)\n"
AFTER = "\nX = torch.rand(8, 8, generator=stream)\nmodel.weight.data += X[:2]"


@pytest.mark.parametrize(
    ("lines", "after", "expected"),
    [
        (GENERATOR + DRAWS, AFTER, "kept"),
        ("import numpy as np\nstream = np.random.default_rng(1)\nfirst = stream.normal(size=2)\n",
         "\nX = torch.tensor(stream.normal(size=(8, 8)))\nmodel.weight.data += X[:2]", "kept"),
        (GENERATOR + DRAWS, "", "left out"),
        (GENERATOR + DRAWS + GENERATOR, AFTER, "left out"),
        (GENERATOR + DRAWS + "stream.manual_seed(2)\n", AFTER, "left out"),
        (GENERATOR + "other = torch.Generator()\nfirst = torch.rand(2, generator=other)\n", AFTER, "left out"),
    ],
)  # fmt: skip
def test_a_generator_is_a_stream_of_its_own_until_it_is_seeded_again(lines, after, expected):
    made = plan(*BEFORE, lines + MODEL + after, TRAINING)
    kept = any("first = " in made.program.source(s.node) for s in made.kept)
    assert (kept, list(draws_left_out(made))) == (expected == "kept", [])


def test_a_model_that_the_training_makes_for_itself_is_drawn_before_its_loop():
    lines = "torch.manual_seed(0)\nfirst = nn.Linear(2, 1)\n"
    trained = "def train():\n    model = nn.Linear(8, 2)\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    trained += TRAINING.replace("\n", "\n    ") + "\n    return model\n\nmodel = train()\n"
    made = plan(*BEFORE[:2], lines, trained)
    assert any("first = " in made.program.source(s.node) for s in made.kept)


def test_a_loader_that_a_function_is_given_draws_an_order():
    fit = "def fit(model, batches):\n    for x, y in batches:\n        model(x)\n"
    calls = "fit(nn.Linear(8, 2), other)\nfit(nn.ReLU(), [])"
    lines = f"torch.manual_seed(0)\n{fit}rows = [torch.zeros(8)]\nother = DataLoader(rows)\n{calls}"
    made = plan(*BEFORE[:2], lines, MODEL, TRAINING)
    assert "fit(nn.Linear(8, 2), other)" in [made.program.source(s.node) for s in draws_left_out(made)]


def test_a_class_that_is_only_asked_for_draws_nothing():
    asked = "class Net(nn.Linear):\n    pass\n\n\ndef look(net):\n    return isinstance(net, Net)\n\n\nlook(3)\n"
    made = plan(*BEFORE[:2], "torch.manual_seed(0)\n", asked, MODEL, TRAINING)
    assert list(draws_left_out(made)) == []


TRIED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.drop = nn.Linear(8, 2), {drop}
    def forward(self, x):
        return self.drop(self.fc(x)){noise}, x
net = Net()
"""


@pytest.mark.parametrize(
    ("drop", "noise", "lines", "expected"),
    [
        ("nn.Dropout(0.1)", "", "", "kept"),
        ("nn.Identity()", " + torch.randn(2)", "", "kept"),
        ("nn.Identity()", " + torch.randn(2)", "net.eval()\n", "kept"),
        ("nn.Dropout(0.1)", "", "net.train()\n", "kept"),
        ("nn.Dropout(0.1)", "", "net.eval()\n", "left out"),
        ("nn.Identity()", "", "", "left out"),
    ],
)
def test_what_a_model_draws_that_is_tried(drop, noise, lines, expected):
    assert fate(f"{TRIED.format(drop=drop, noise=noise)}{lines}out, x = net(torch.zeros(1, 8))") == expected


def test_the_parameters_of_a_model_draw_nothing():
    tried = TRIED.format(drop="nn.Dropout(0.1)", noise="")
    assert fate(f"{tried}sizes = [p.numel() for p in net.parameters()]") == "left out"


UNREAD = "from helpers import Net\nnet = Net()\nx = torch.zeros(1, 8)\n"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (UNREAD + "print(net(x).shape)", "kept"),
        (UNREAD.replace("Net()", "Net().to('cpu')") + "print(net(x).shape)", "kept"),
        (UNREAD + "net.eval()\nprint(net(x).shape)", "left out"),
        (UNREAD + "import matplotlib.pyplot as plt\nplt.plot(net(x))", "known"),
        (UNREAD + "sizes = [p.numel() for p in net.parameters()]", "left out"),
    ],
)
def test_what_a_model_that_is_not_read_may_draw(lines, expected):
    assert fate(lines) == expected


def test_before_a_batch_that_all_ranks_draw_in_a_cell_that_only_calls_what_trains():
    before = "torch.manual_seed(0)\nmodel = nn.Linear(8, 2)\nother = nn.Linear(8, 2)\n"
    before += "optimizer = torch.optim.LBFGS(model.parameters())\ndata = torch.ones(100, 8).cumsum(0)\n"
    before += "def closure(x):\n    def again():\n        optimizer.zero_grad()\n"
    before += "        loss = model(x).pow(2).mean()\n        loss.backward()\n        return loss\n    return again"
    step = "# %%\n%%ddp_train\nfor _ in range(3):\n    optimizer.step(closure(data[torch.randperm(100)[:9]]))"
    made = plan(IMPORTS, before, step)
    assert "other = nn.Linear(8, 2)" in [made.program.source(s.node) for s in made.kept]
