"""What cannot be split, and why."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from tests.analysis.splitting.steps import planned

WORDS = """from drawing import draw
class Words(nn.Module):
    def forward(self, x):
        return self.out(x.sum(0))
model = Words()"""
LOSS = "loss = F.mse_loss(model(x), t)"


@pytest.mark.parametrize(
    ("lines", "before", "words"),
    [
        ("loss = F.mse_loss(model(X[step]), y[step])", "", "'X[step]' is a single sample"),
        (f"x, t = X[step:], y[step:]\nx = x.unsqueeze(0)\n{LOSS}", "", "'x.unsqueeze(0)' makes one sample of it"),
        ("loss = F.mse_loss(model(X @ W), y)", "W = torch.eye(4)", ""),
        ("loss = F.mse_loss(model(A @ X), y)", "A = torch.eye(100)", ""),
        ("h = torch.mm(A, model(X))\nloss = F.mse_loss(h, y)", "A = torch.eye(100)", "'torch.mm(A, model(X))' adds up"),
        ("loss = F.mse_loss(model(X, adj), y)", "adj = torch.eye(100)", "'adj' joins the samples to a graph"),
        ("loss = F.mse_loss(model(x_edge), y)", "x_edge = torch.randn(100, 4)", ""),
        ("loss = F.mse_loss(model(X), y)", "import gyms\nenv = gyms.make()\nenv.reset()\nenv.step(1)", ""),
        ("out = model(X)\nloss = F.mse_loss(out[kept], y[kept])", "kept = torch.arange(9)", "'out[kept]' is picked by"),
        (f"env.reset()\nx, t = env.step(step)\n{LOSS}", "import gyms\nenv = gyms.make()", "'env' is an environment"),
        ("loss = F.mse_loss(model(X), y)", "rnn = nn.LSTM(4, 4)\nmodel.rnn = rnn", "'nn.LSTM' takes time"),
        ("loss = F.mse_loss(model(X), y)", "rnn = nn.LSTM(4, 4, batch_first=True)\nmodel.rnn = rnn",
         "'nn.LSTM' relates the places"),
        ("for d in zip(X, y):\n    x, t = d[0], d[1]\n    loss = F.mse_loss(model(x), t)\n    loss.backward()", "",
         "'zip(X, y)' goes through single samples"),
        ("x = draw(X)\nloss = F.mse_loss(model(x), torch.tensor([step]))", "from drawing import draw",
         "'torch.tensor([step])' makes one sample of it"),
        ("loss = F.mse_loss(model(X), y) + model(torch.tensor([[0.0, 0.0, 0.0, 0.0]])).square().mean()", "", ""),
        ("loss = F.mse_loss(model(X), y) + model(torch.tensor([[2 * np.pi, 0.0, 0.0, 0.0]])).square().mean()", "", ""),
        ("x, t = pairs[step]\nloss = F.mse_loss(model(x), t)", "pairs = [(X[i], y[i]) for i in range(9)]",
         "'pairs[step]' goes through single samples"),
        ("x, t = draw(X)\nloss = F.mse_loss(model(x), t)", WORDS, "'x.sum(0)' adds up over the samples"),
        ("loss = model(torch.ones(1)).max() * step", "", "no batch was found"),
        ("loss = F.mse_loss(model(X), y) + 0 * X.indices()[0].sum()", "", "'X.indices()' reads a sparse tensor"),
        ("loss = F.mse_loss(model(X), y) + X.sort(1).indices.float().mean()", "", ""),
    ],
)  # fmt: skip
def test_why(lines, before, words):
    made = planned(lines, before=before)
    assert made.assumed.unsplit.startswith(words)
    assert bool(made.assumed.splits) is not bool(words)


def test_exactly_models_cannot_split_one_sample_either():
    step = f"x, t = X[step:], y[step:]\nx = x.unsqueeze(0)\n{LOSS}"
    assumed = planned(step, options=Options(exact=True)).assumed
    assert assumed.unsplit.startswith("'x.unsqueeze(0)' makes one sample of it")
    assert not assumed.joined


CARRIED = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
    def forward(self, x):
        state, found = 0.0, []
        for row in x:
            state = torch.tanh(self.layer(row) + state)
            found.append(state)
        return torch.stack(found)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def test_no_model_splits_samples_of_which_each_goes_on_from_the_one_before():
    assumed = planned("loss = F.mse_loss(model(X), y)", before=CARRIED, options=Options(exact=True)).assumed
    assert assumed.unsplit == "'x' goes through the samples, and each goes on from the one before"
    assert not assumed.joined


BY_PLACE = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
    def go_on(self, row, state):
        return 0.5 * state + self.layer(row)
    def forward(self, x):
        {forward}
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


TURNS = "for i in range(len(x)):\n            "


@pytest.mark.parametrize(
    ("forward", "goes_on"),
    [
        (f"h = 0.0\n        {TURNS}h = self.go_on(x[i], h)\n        return h", True),
        (f"h = 0.0, 0.0\n        {TURNS}a, b = h; h = a + b, self.go_on(x[i], b)\n        return h[1]", True),
        (f"h = []\n        {TURNS}h.append(self.layer(x[i]))\n        return torch.stack(h)", False),
        ("h = 0.0\n        for i in range(4):\n            h = self.go_on(x[:, i], h)\n        return h", False),
        (f"x, h = x.transpose(0, 1), 0.0\n        {TURNS}h = self.go_on(x[i], h)\n        return h", False),
    ],
)
def test_what_a_model_picks_by_places_of_which_each_goes_on_from_the_one_before(forward, goes_on):
    """It was cut along time, and each rank began anew in the middle: exactly, the models take whole batches."""
    before = BY_PLACE.format(forward=forward)
    assumed = planned("loss = model(X[step : step + 9]).mean()", before=before).assumed
    assert assumed.unsplit.startswith("'x[i]' goes through the samples") is goes_on
    exactly = planned("loss = model(X[step : step + 9]).mean()", before=before, options=Options(exact=True)).assumed
    assert exactly.joined.startswith("'x[i]' goes through the samples") is goes_on
