"""What is one sample, although it has a length."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from tests.analysis.cells import BEFORE, plan
from tests.analysis.splitting.steps import DATA, planned


@pytest.mark.parametrize(
    ("head", "single"),
    [
        ("for x, t in zip(X, y):", True),
        ("for k, (x, t) in enumerate(zip(X, y)):", True),
        ("for x, t in zip(X.split(10), y.split(10)):", False),
        ("for x, t in pairs:", False),
    ],
)
def test_what_a_loop_goes_through(head, single):
    made = planned("loss = F.mse_loss(model(x), t)", head=head, before="from drawing import pairs")
    assert ("goes through single samples" in made.assumed.unsplit) is single
    assert bool(made.assumed.splits) is not single


def test_tensors_that_a_function_is_given():
    loop = "    for x, t in zip(A, b):\n        loss = F.mse_loss(model(x), t)\n        loss.backward()\n"
    trained = f"def train(A, b):\n{loop}    return loss"
    made = plan(f"{DATA}\n{trained}\nfor step in range(9):\n    train(X, y)\n    optimizer.step()")
    assert made.assumed.unsplit == "'zip(A, b)' goes through single samples, and one sample cannot be split"


@pytest.mark.parametrize("shape", ["view(1)", "reshape(1)", "unsqueeze(0)"])
def test_a_mean_of_one_entry_is_no_sample(shape):
    """Nor is the mean over the samples, in a model, of what is one number for each of them."""
    before = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)
    def forward(self, x):
        return self.layer(x)
    def loss(self, out, t):
        each = -(out * t).mean(1)
        return each.mean(0)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"""
    lines = f"x, t = draw(X), draw(y)\nloss = model.loss(model(x), t).{shape}"
    assert planned(lines, before=f"from drawing import draw\n{before}").assumed.splits


@pytest.mark.parametrize(
    ("shape", "split"), [("expand(n, n, 1)", True), ("repeat(n, 1, 1)", True), ("expand(1, n, 1)", False)]
)
def test_each_sample_beside_all(shape, split):
    lines = f"h, n = model(X), len(X)\nfar = h.unsqueeze(1).expand(n, n, 1) - h.unsqueeze(0).{shape}\nloss = far.mean()"
    assert ("makes one sample" not in planned(lines).assumed.unsplit) is split


@pytest.mark.parametrize("shape", ["view(1)", "reshape(1)", "unsqueeze(0)"])
def test_a_mean_of_one_entry_in_the_step_is_no_sample(shape):
    made = planned(f"x, t = X[step:], y[step:]\nloss = (model(x) - t).pow(2).mean(1)\nloss = loss.mean(0).{shape}")
    assert made.assumed.splits


@pytest.mark.parametrize(("source", "single"), [("TensorDataset(X, y)", True), ("pairs", False)])
def test_what_a_dataset_gives_next(source, single):
    made = planned(
        "x, t = next(turns)\nloss = F.mse_loss(model(x), t)",
        before=f"from drawing import pairs\nturns = iter({source})",
    )
    assert ("'next(turns)' goes through single samples" in made.assumed.unsplit) is single


@pytest.mark.parametrize(
    ("drawn", "second"),
    [
        ("x = S[:, torch.randint(0, 9, (4,))]", True),
        ("idx = torch.randint(0, 9, (4,))\nx = S[:, idx]", True),
        ("idx = torch.randint(0, 9, (4,))\nb = S[:, idx]\nx = b[1:]", True),
        ("x = S[:, step : step + 4]", False),
        ("x = S[step:][:, cols]", False),
    ],
)
def test_samples_in_the_second_dimension(drawn, second):
    made = planned(f"{drawn}\nloss = model(x).mean()", before="S, cols = torch.randn(9, 9, 4), torch.arange(4)")
    (split,) = made.assumed.splits
    assert bool(split.dim) is second


def test_one_sample_that_a_model_is_shown_outside_of_the_training():
    shown = "model(torch.tensor([X[0].tolist()]))\n"
    assert planned("loss = F.mse_loss(model(X[:8]), y[:8])", before=shown).assumed.splits
    made = planned("loss = F.mse_loss(model(torch.tensor([X[step].tolist()])), y[step])")
    assert "single sample" in made.assumed.unsplit


def test_labels_made_for_what_a_model_gives_once_whole_and_once_split():
    net = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    net += "        self.layer = nn.Linear(4, 4)"
    net += "\n    def forward(self, x):\n        return F.relu(self.layer(x))\n"
    net += "def real(out):\n    return nn.BCEWithLogitsLoss()(out, torch.ones(out.size(0), 4))\n"
    net += "model, other = Net(), Net()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    lines = "a = torch.randn(25, 4)\nloss = real(model(a))\nb = torch.randn(25, 4)\nloss = loss + real(model(other(b)))"
    assert planned(lines, before=net).assumed.splits


@pytest.mark.parametrize(
    ("joined", "split"), [("torch.cat((h, h.softmax(-1)), -1)", True), ("torch.cat((h, h))", False)]
)
def test_what_a_model_joins_of_each_sample_once_whole_and_once_split(joined, split):
    net = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    net += "        self.layer, self.out = nn.Linear(4, 4), nn.Linear(8, 1)\n"
    net += f"    def forward(self, x):\n        h = self.layer(x)\n        return self.out({joined})\n"
    net += "def gap(x, y):\n    return nn.MSELoss()(model(x), y)\n"
    net += "model = Net()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    lines = "seen = gap(X[80:], y[80:])\nx, t = X[step : step + 8], y[step : step + 8]\nloss = gap(x, t)"
    assert bool(planned(lines, before=net).assumed.splits) is split


DISTILLED = """
student, teacher, soft = nn.Linear(8, 2), nn.Linear(8, 2), nn.KLDivLoss(reduction="batchmean")
first = torch.optim.SGD(teacher.parameters(), lr=0.1)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)

def distance(s, t, y):
    hot, cold = F.softmax(t / 20, dim=1), F.log_softmax(s / 20, dim=1)
    return F.cross_entropy(s, y) + soft(cold, hot)

for x, y in train_loader:
    loss = F.cross_entropy(teacher(x), y)
    first.zero_grad()
    loss.backward()
    first.step()
"""
STUDENT = """%%ddp_train
for epoch in range(3):
    for x, y in train_loader:
        loss = distance(student(x), teacher(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(sum(distance(student(x), teacher(x), y).item() for x, y in test_loader))
"""


def test_a_softened_output_of_a_step_that_is_not_split_yet_is_of_each_sample():
    """The teacher's step is split first; the student's distance is asked for by its validation too."""
    made = plan(*BEFORE[:2], DISTILLED, STUDENT, options=Options(exact=True))
    assert len(made.assumed.splits) == 2
    assert made.assumed.unsplit == made.assumed.joined == ""


@pytest.mark.parametrize(
    "measured",
    [
        "d = out.pow(2).sum(1).view(1, -1) - 2 * out @ out.T + out.pow(2).sum(1).view(-1, 1)",
        "d = out @ out.T\nd = d[torch.LongTensor(np.array([pairs[0]])), torch.LongTensor(pairs)]",
    ],
)
def test_a_row_of_all_samples_beside_a_column_of_them_and_a_place_are_no_single_sample(measured):
    lines = f"x = X[step:step + 16]\nout = model(x)\npairs = np.arange(3)\n{measured}\nloss = d.clamp(0).mean()"
    made = planned(lines, options=Options(exact=True))
    assert not made.assumed.unsplit
    assert made.assumed.joined
