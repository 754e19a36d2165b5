"""What gives single samples, and what gives batches of them."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.splitting.origins import gives_samples, is_sample
from tests.analysis.splitting.steps import planned

BEFORE = """
import random
pairs = list(zip(X, y))
batches = [(X[i : i + 8], y[i : i + 8]) for i in range(0, 96, 8)]
rows = [X[i] for i in range(9)]
parts = X.split(8)
def joined():
    return zip(X, y)
def one_by_one():
    for a, b in zip(X, y):
        yield a, b
def eight_by_eight():
    for i in range(0, 96, 8):
        yield X[i : i + 8]
class Rows:
    def __getitem__(self, i):
        return X[i], y[i]
class Batches:
    def __getitem__(self, i):
        return X[i * 8 : i * 8 + 8]
data, pieces = Rows(), Batches()
"""


def node_of(text):
    made = planned(f"used = {text}\nloss = F.mse_loss(model(X), y)", before=BEFORE)
    (node,) = [n.value for n in made.nodes() if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "used"]
    return made, node


@pytest.mark.parametrize(
    "text",
    ["X", "zip(X, y)", "enumerate(X)", "pairs", "rows", "joined()", "one_by_one()", "data", "random.sample(pairs, 8)"],
)
def test_single_samples(text):
    assert gives_samples(*node_of(text))


@pytest.mark.parametrize("text", ["batches", "parts", "eight_by_eight()", "pieces", "range(9)"])
def test_batches(text):
    assert not gives_samples(*node_of(text))


@pytest.mark.parametrize(
    ("text", "expected"), [("X[step]", True), ("pairs[step]", True), ("batches[step]", False), ("X[step:]", False)]
)
def test_is_sample(text, expected):
    assert is_sample(*node_of(text)) is expected
