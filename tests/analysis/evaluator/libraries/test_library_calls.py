"""What functions of libraries give for a share, and what they make."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, TRAINING, node, plan, seen

U, S, M, T, V = Extent.UNIFORM, Extent.SAMPLES, Extent.MEAN, Extent.SUM, Extent.VARYING
NAMES = "import copy\nimport math\nimport numpy as np\nfrom sklearn.metrics import accuracy_score, f1_score\n"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("torch.sum(x)", T),
        ("torch.sum(x, dim=0)", T),
        ("torch.sum(x, dim=1)", S),
        ("torch.sum(x, 1)", S),
        ("torch.mean(x)", M),
        ("torch.mean(x, dim=(0, 1))", M),
        ("torch.mean(x, dim=-1)", S),
        ("np.mean(x.numpy())", M),
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
    ],
)
def test_extent(call, expected):
    assert seen(call, f"n = {call}", before=NAMES + "how = input()\n") is expected


def test_one_picture_is_none_of_the_batch():
    for rows, expected in ((1, V), (8, T)):
        lines = ("with torch.no_grad():", f"    z = torch.randn({rows}, 8)", "    total = model(z).sum()")
        assert seen("model(z).sum()", *lines) is expected


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        ("torch.normal(model(x), spread)", Extent.SAMPLES),
        ("torch.randn(len(x), *spread.shape)", Extent.SAMPLES),
        ("torch.randn_like(spread)", Extent.REPEATED),
        ("torch.randn(spread.shape)", Extent.REPEATED),
    ],
)
def test_noise_with_a_parameter_is_of_the_samples_where_they_are_in_it(drawn, expected):
    assert seen(drawn, f"noise = {drawn}", before="spread = nn.Parameter(torch.zeros(2))\n") is expected


@pytest.mark.parametrize(
    ("call", "number"),
    [
        ("np.random.randint(9)", True),
        ("np.random.randint(0, 9)", True),
        ("np.random.normal(loc=0.0)", True),
        ("random.randrange(9)", True),
        ("np.random.randint(9, size=4)", False),
        ("np.random.randint(0, 9, 4)", False),
        ("np.random.normal(loc=np.zeros(4))", False),
        ("random.choice([3, 4])", False),
    ],
)
def test_what_draws_a_number(call: str, number: bool) -> None:
    imports = "import random\nimport numpy as np"
    made = plan(*BEFORE, imports, f"{TRAINING.rstrip()}\n        print({call})\n")
    assert made.facts.value(node(made, ast.Call, call)).number is number
