"""Noise for the samples of a rank: only what torch's own stream gives can be drawn for the whole batch."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from tests.analysis.splitting.steps import planned

BATCH = "i = torch.randint(0, 100, (16,))\nx, t = X[i], y[i]"
NUMPY = "torch.Tensor(np.random.random((len(x), 1)))"
RNG = "torch.from_numpy(rng.normal(size=(len(x), 1)))"
OWN = "torch.randn(len(x), 1, generator=own)"


@pytest.mark.parametrize(
    ("noise", "before", "split"),
    [
        ("torch.rand(len(x), 1)", "", True),
        ("np.random.random()", "", True),  # one number for all of them
        (NUMPY, "", False),
        (RNG, "rng = np.random.default_rng(0)", False),
        (OWN, "own = torch.Generator()", False),
    ],
)
def test_what_another_stream_draws_keeps_batches_whole(noise, before, split):
    noisy = f"\ndef noisy(x):\n    return x + {noise}\n"
    lines = f"{BATCH}\nloss = F.mse_loss(model(noisy(x)), t)"
    made = planned(lines, before=before + noisy, options=Options(exact=True))
    assert (bool(made.assumed.splits), bool(made.assumed.joined)) == (split, not split)


def test_by_default_each_rank_draws_its_own():
    lines = f"{BATCH}\nloss = F.mse_loss(model(x + {NUMPY}), t)"
    assert planned(lines).assumed.splits


@pytest.mark.parametrize("exact", [True, False])
def test_data_that_was_made_before_is_none_of_the_step(exact):
    before = "rng = np.random.default_rng(0)\nX = X + torch.from_numpy(rng.normal(0, 1, X.shape)).float()\n"
    made = planned(f"{BATCH}\nloss = F.mse_loss(model(x), t)", before=before, options=Options(exact=exact))
    assert made.assumed.splits


@pytest.mark.parametrize(("mode", "split"), [("model.eval()", True), ("pass", False)])
def test_a_batch_beside_it_for_which_dropout_draws_nothing(mode, split):
    """`val_loss` in the loop of the steps, in evaluation mode but with gradients on."""
    before = "model = nn.Sequential(nn.Linear(4, 1), nn.Dropout(0.5))\n"
    before += "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    lines = f"x, t = X[step:], y[step:]\nloss = F.mse_loss(model(x), t)\n{mode}\nprint(model(y.T).sum())\nmodel.train()"
    made = planned(lines, before=before, options=Options(exact=True))
    assert bool(made.assumed.splits) == split


@pytest.mark.parametrize(("layer", "split"), [("nn.Dropout(0.5)", False), ("nn.ReLU()", True)])
def test_dropout_of_a_batch_beside_the_one_that_is_split(layer, split):
    before = f"model = nn.Sequential(nn.Linear(4, 1), {layer})\n"
    before += "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    lines = "loss = model(X).mean() + model(torch.randn(50, 4)).mean()"
    made = planned(lines, before=before, options=Options(exact=True))
    assert bool(made.assumed.splits) == split
