"""Which models DDP takes over, which have their gradients averaged by hand."""

from __future__ import annotations

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.reading import may_hold_batch_norm
from tests.analysis.cells import BEFORE, DATA, IMPORTS, MODEL, TRAINING, plan

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 4)
        self.head = nn.Linear(4, 2)
        {init}

    def forward(self, x):
        {forward}

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)
    {more}

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
LOOSE = """
extra = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([extra, *model.parameters()], lr=1)
"""
TWO = """
other = nn.Linear(8, 2)
optimizer = torch.optim.SGD([*model.parameters(), *other.parameters()], lr=1)
"""
TRAIN = "def train(self, mode=True):\n        return super().train(mode)"
FORWARD = "return self.head(self.body(x))"


def net(forward: str = FORWARD, init: str = "pass", more: str = "") -> str:
    return NET.format(forward=forward, init=init, more=more)


def wrapped(made: Plan) -> tuple[list[str], int]:
    """The variables that DDP takes over, and how many models are averaged by hand."""
    return [home.name for home in made.wrapping.homes.values()], len(made.wrapping.averaged)


def test_a_model_that_is_called_is_wrapped_where_it_stands():
    assert wrapped(plan(*BEFORE, TRAINING)) == (["model"], 0)


@pytest.mark.parametrize(
    ("cell", "training"),
    [
        (net(), TRAINING.replace("F.cross_entropy(model(x), y)", "model.loss(x, y)")),
        (net(more="def train(self, x):\n        return x"), TRAINING),
        (net(more="def eval(self):\n        return self"), TRAINING),
        (net(), TRAINING.replace("loss.backward()", "torch.autograd.grad(loss, [x])\n        loss.backward()")),
        (net(), TRAINING.replace("loss.backward()", "model.body.weight.requires_grad_(True)\n        loss.backward()")),
        (net() + LOOSE, TRAINING),
    ],
)  # fmt: skip
def test_these_are_averaged_by_hand(cell, training):
    assert wrapped(plan(IMPORTS, DATA, cell, training)) == ([], 1)


@pytest.mark.parametrize("more", [TRAIN, "def fit(self):\n        return 1"])
def test_a_train_like_torchs_is_no_reason(more):
    assert wrapped(plan(IMPORTS, DATA, net(more=more), TRAINING)) == (["model"], 0)


def test_models_of_one_optimizer_are_averaged_together():
    cells = (
        net()
        + "other = nn.Linear(8, 2)\noptimizer = torch.optim.SGD([*model.parameters(), *other.parameters()], lr=1)\n"
    )
    loss = "loss = model.loss(x, y) + F.cross_entropy(other(x), y)"
    training = TRAINING.replace("loss = F.cross_entropy(model(x), y)", loss)
    assert wrapped(plan(IMPORTS, DATA, cells, training)) == ([], 2)


@pytest.mark.parametrize(
    ("cell", "may"),
    [
        (MODEL, False),
        (MODEL.replace("nn.Linear(8, 2)", "nn.Sequential(nn.BatchNorm1d(8), nn.Linear(8, 2))"), True),
        (MODEL.replace("nn.Linear(8, 2)", "torchvision.models.resnet18()"), True),
    ],
)
def test_whether_it_may_hold_a_batch_norm(cell, may):
    made = plan(IMPORTS + "import torchvision\n", DATA, cell, TRAINING)
    assert may_hold_batch_norm(made, made.roles.models[0].obj) is may


@pytest.mark.parametrize("unused", ["nn.Linear(3, 3)", "nn.Parameter(torch.zeros(3))"])
@pytest.mark.parametrize(
    ("penalty", "by_hand"),
    [
        ("sum(p.pow(2).sum() for p in model.parameters())", True),
        ("weights()", True),
        ("sum(p.pow(2).sum() for p in model.head.parameters())", True),  # which part it is, is not followed
        ("0.0", False),
    ],
)
def test_what_a_forward_leaves_out_and_a_loss_does_not(penalty, by_hand, unused):
    """DDP, which is told to look for it, would count it twice."""
    before = net(init=f"self.extra = {unused}")
    before += "def weights():\n    return sum(p.abs().sum() for n, p in model.named_parameters() if 'bias' in n)\n"
    trained = TRAINING.replace("F.cross_entropy(model(x), y)", f"F.cross_entropy(model(x), y) + {penalty}")
    assert wrapped(plan(IMPORTS, DATA, before, trained)) == (([], 1) if by_hand else (["model"], 0))
