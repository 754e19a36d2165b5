"""Which means over some samples can be written as the mean over those of all ranks."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.agreement.sample_means import sample_means
from tests.analysis.cells import BEFORE, batch, plan

WEIGHT = "w = torch.ones(2)"


def found(*lines: str, before: str = WEIGHT) -> list[tuple[str, str, str]]:
    """Of the calls that are written anew: what they are, their function, and the weights."""
    made = sample_means(plan(*BEFORE, before, batch(*lines)))
    return [(mean.by, mean.function, mean.weights) for mean in made.written.values()]


def left(*lines: str, before: str = WEIGHT) -> list[str]:
    """What is told of instead."""
    made = sample_means(plan(*BEFORE, before, batch(*lines)))
    return [ast.unparse(call) for call in (*made.weighted, *made.picked)]


def test_a_function_of_torch():
    line = "n = F.cross_entropy(model(x), y, weight=w, ignore_index=0)"
    assert found(line) == [("loss", "", "w[y[y != 0]]")]


@pytest.mark.parametrize(
    ("lines", "weights"),
    [
        (["criterion = nn.CrossEntropyLoss(w)", "n = criterion(model(x), y)"], "criterion.weight[y]"),
        (["n = nn.CrossEntropyLoss(w)(model(x), y)"], "w[y]"),
        (["n = nn.NLLLoss(ignore_index=0)(model(x), y)"], "y != 0"),
    ],
)
def test_a_module_that_is_built_in_the_step(lines, weights):
    library = "nn.functional."
    name = "nll_loss" if "NLL" in lines[0] else "cross_entropy"
    assert found(*lines) == [("loss", library + name, weights)]
    assert left(*lines) == []


def test_a_module_of_a_function_that_trains_two_models():
    fit = """def fit(model):
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        criterion(model(x), y).backward()
        opt.step()"""
    made = sample_means(plan(*BEFORE, fit, "first = nn.Linear(3, 2)", "fit(first)\nfit(model)"))
    assert [mean.weights for mean in made.written.values()] == ["y != 0"]


def test_of_the_samples_that_a_mask_picks():
    lines = ["losses = F.cross_entropy(model(x), y, reduction='none')", "n = losses[y > 0].mean()"]
    assert found(*lines) == [("method", "", "")]


@pytest.mark.parametrize(
    "call",
    [
        "F.cross_entropy(model(x), y[torch.randperm(len(y))], weight=w)",  # another order each time
        "F.cross_entropy(model(x), y, weight=w, **options)",
        "nn.CrossEntropyLoss(torch.ones(2))(model(x), y)",
    ],
)
def test_others_are_told_of(call):
    before = f"{WEIGHT}\noptions = {{'label_smoothing': 0.1}}"
    assert not found(f"n = {call}", before=before)
    assert len(left(f"n = {call}", before=before)) == 1
