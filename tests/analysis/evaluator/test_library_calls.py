"""What functions of libraries give for a share, and what they make."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, batch, node, plan, seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING
NAMES = "import copy\nimport math\nimport numpy as np\nfrom sklearn.metrics import accuracy_score, f1_score\n"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("len(x)", T),
        ("len(train_set)", U),
        ("len(train_loader)", U),
        ("len([v for v in y])", T),
        ("len([v for v in y if v > 0])", T),
        ("float(loss)", M),
        ("float(len(x))", T),
        ("str(loss.item())", V),
        ("abs(loss.item())", V),
        ("abs(x)", S),
        ("sum(x)", T),
        ("sum(1 for v in y if v > 0)", T),
        ("torch.sum(x)", T),
        ("torch.sum(x, dim=0)", T),
        ("torch.sum(x, dim=1)", S),
        ("torch.sum(x, 1)", S),
        ("torch.mean(x)", M),
        ("torch.mean(x, dim=(0, 1))", M),
        ("torch.mean(x, dim=-1)", S),
        ("np.mean(x.numpy())", M),
        ("min(loss.item(), 3.0)", V),
        ("min(epoch, 3)", U),
        ("max(x)", V),
        ("math.exp(loss.item())", V),
        ("math.sqrt(epoch)", U),
        ("torch.exp(x)", S),
        ("torch.max(x)", V),
        ("torch.max(x, 1)", S),
        ("torch.zeros(len(x), 2)", S),
        ("torch.zeros(4, 2)", U),
        ("torch.randn(4, 2)", S),
        ("torch.stack([loss, loss])", M),
        ("torch.allclose(x, x)", V),
        ("F.mse_loss(x, y)", M),
        ("F.mse_loss(x, y, reduction='sum')", T),
        ("F.mse_loss(x, y, reduction=how)", V),
        ("accuracy_score(y, x)", M),
        ("accuracy_score(y, x, normalize=False)", T),
        ("f1_score(y, x)", V),
        ("copy.deepcopy(loss)", M),
        ("list(map(float, [loss]))[0]", M),
        ("dict(a=loss.item())['a']", M),
        ("getattr(x, 'device')", U),
        ("next(iter(train_loader))", S),
    ],
)
def test_extent(call, expected):
    assert seen(call, f"n = {call}", before=NAMES + "how = input()\n") is expected


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("DataLoader(train_set)", "loader"),
        ("nn.Linear(2, 2)", "model"),
        ("nn.MSELoss()", "loss"),
        ("torch.optim.Adam(model.parameters())", "optimizer"),
        ("torch.optim.lr_scheduler.StepLR(optimizer, 3)", "scheduler"),
        ("torch.amp.GradScaler()", "scaler"),
        ("copy.deepcopy(model)", "model"),
        ("torch.utils.data.RandomSampler(train_set)", "sampler"),
        ("torch.utils.data.Subset(train_set, [1])", "dataset"),
        ("open('a.txt', 'w')", "file"),
    ],
)
def test_things_that_are_made(call, kind):
    made = plan(*BEFORE, NAMES, f"thing = {call}", batch("n = thing"))
    assert {o.kind for o in made.facts.value(node(made, ast.Call, call)).objs} == {kind}


@pytest.mark.parametrize("call", ["torch.zeros(3)", "math.sqrt(3)", "len(train_set)"])
def test_numbers_are_no_things(call):
    made = plan(*BEFORE, NAMES, f"thing = {call}", batch("n = thing"))
    assert not made.facts.value(node(made, ast.Call, call)).objs


def test_a_copy_is_another_model():
    made = plan(*BEFORE, NAMES, "other = copy.deepcopy(model)", batch("n = other"))
    one, other = (made.facts.value(node(made, ast.Name, name)).objs for name in ("model", "other"))
    assert not one & other


def test_the_size_of_a_share_is_alike_and_that_of_some_of_its_samples_is_not():
    made = plan(*BEFORE, batch("a = len(x)", "b = len(x[y == 1])"))
    assert made.facts.value(node(made, ast.Call, "len(x)")).equal
    assert not made.facts.value(node(made, ast.Call, "len(x[y == 1])")).equal


def test_by_next_the_loop_draws_from_the_loader():
    made = plan(*BEFORE, batch("other = next(iter(test_loader))"))
    assert {made.program.source(o.node) for o in made.facts.drawn} == {"DataLoader(test_set, batch_size=10)"}
    assert not plan(*BEFORE, batch("other = len(test_loader)")).facts.drawn
