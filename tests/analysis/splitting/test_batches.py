"""What one step splits may be several batches, each with a size and a weight of its own."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting import batches_of, named_before
from tests.analysis.splitting.steps import planned

DRAWN = "x, t, u = draw(X, y)"
BEFORE = "from drawing import draw\ndef both(a, b):\n    return model(a).mean() + model(b).mean(), model(a)"


def held(lines: str) -> list[list[str]]:
    made = planned(f"{DRAWN}\n{lines}", before=BEFORE)
    (split,) = made.assumed.splits
    return [sorted(keys) for keys in batches_of(made, split).held]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("loss = F.mse_loss(model(x), t) + model(u).mean()", [["t", "x"], ["u"]]),
        ("loss = F.mse_loss(model(x), t)\nloss += model(u).mean()", [["t", "x"], ["u"]]),
        ("a, b = model(x), model(u)\nloss = F.mse_loss(a, t) + b.mean()", [["t", "x"], ["u"]]),
        ("out = model(x)\nloss = F.mse_loss(out, t)\nout = model(u)\nloss += out.mean()", [["t", "x"], ["u"]]),
    ],
)
def test_batches_that_never_meet(lines, expected):
    assert held(lines) == expected


@pytest.mark.parametrize(
    "lines",
    [
        "loss = F.mse_loss(model(x), t) + model(torch.cat([x, u])).mean()",
        "loss = F.mse_loss(model(x), t) + (model(x) * model(u)).mean()",
        "loss, out = both(x, u)\nloss = loss + F.mse_loss(out, t)",
        "parts = []\nfor a in [x, u]:\n    parts.append(model(a))\nloss = F.mse_loss(model(x), t) + sum(parts).mean()",
        "for a in [x, u]:\n    last = model(a)\nloss = F.mse_loss(model(x), t) + last.mean() + model(u).mean()",
    ],
)
def test_what_meets_is_one_batch(lines):
    assert held(lines) == [["t", "u", "x"]]


def test_what_one_turn_leaves_to_the_next():
    later = "if step:\n    loss += (model(u) - old).mean()\nold = model(x)"
    assert held(f"loss = F.mse_loss(model(x), t) + model(u).mean()\n{later}") == [["t", "u", "x"]]


def test_each_mean_and_each_count_has_its_batch():
    made = planned(
        f"{DRAWN}\na = F.mse_loss(model(x), t)\nb = model(u).mean()\nloss = a + b\nseen = b.item() * len(u)",
        before="from drawing import draw",
    )
    numbers = batches_of(made, made.assumed.splits[0]).numbers
    found = {made.program.source(node): n for node, n in numbers.items()}
    assert found["F.mse_loss(model(x), t)"] == 0
    assert (found["model(u).mean()"], found["len(u)"]) == (1, 1)


def test_two_sizes_in_one_mean_are_refused():
    made = planned("x, u = torch.rand(9, 4), torch.rand(5, 4)\nloss, _ = both(x, u)", before=BEFORE)
    assert str(made.assumed.unsplit) == "'u' and 'x' are batches of two sizes, and 'both(x, u)' is made of both"


ROWS = "torch.randn(64, 4)"
PICKED = "X[torch.randint(0, 100, (16,))]"


@pytest.mark.parametrize("batch", [ROWS, PICKED])
def test_it_is_named_in_the_turn(batch):
    made = planned(f"loss = model({batch}).square().mean()")
    (split,) = made.assumed.splits
    assert [made.program.source(n) for n in named_before(made, split)] == [batch]
    assert made.program.source(split.at).startswith("loss =")


@pytest.mark.parametrize(
    "loss",
    [
        f"[model({PICKED}).mean() for i in range(2)][1]",
        f"model({PICKED}).mean() if step else model({PICKED}).sum()",
        f"torch.rand(1) * model({PICKED}).mean()",  # which is drawn before it
        f"model(torch.zeros(1, 4)).sum() + model({PICKED}).mean()",  # whose dropout may be
        "model(torch.randn(1, 4)).mean()",
        "model(torch.randn(4)).mean()",
    ],
)
def test_what_cannot_be_named_before(loss):
    assert planned(f"loss = {loss}").assumed.splits == ()


def test_what_has_a_name_is_split_by_it():
    made = planned(f"x = {PICKED}\nloss = model(x).mean()")
    (split,) = made.assumed.splits
    assert (split.names, named_before(made, split)) == (("x",), [])
