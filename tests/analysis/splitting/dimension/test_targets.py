"""What a loss compares has its samples in one place, wherever the data has them."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import FLAT
from tests.analysis.splitting.dimension.sequences import LOSS, OUT, sequences
from tests.analysis.splitting.steps import planned

FLATTENED = "x, t = several[step : step + 5], several[step + 1 : step + 6].reshape(-1)"
LAST = "_, state = self.rnn(self.embed(x), state)\n        return self.out({})"
MORE = FLATTENED.replace(".reshape(-1)", "")
LABELS = "x, t = several[step : step + 5], tokens[:10]"


@pytest.mark.parametrize(
    ("drawn", "loss", "forward", "unlike"),
    [
        (FLATTENED, "loss = F.cross_entropy(model(x).view(-1, 9), t)", OUT, {"t": FLAT}),
        (FLATTENED, "out = model(x)\nloss = F.cross_entropy(out.flatten(0, 1), t.long())", OUT, {"t": FLAT}),
        (FLATTENED.replace(".reshape(-1)", ""), LOSS, OUT, {}),
        (LABELS, "loss = F.cross_entropy(model(x), t)", LAST.format("state[-1]"), {"t": ""}),
        (LABELS, "loss = F.cross_entropy(model(x), t)", LAST.format("state.squeeze(0)"), {"t": ""}),
        (LABELS, "loss = F.cross_entropy(model(x).mean(0), t)", OUT, {"t": ""}),
        (LABELS, "out = model(x).mean(0)\nt = t.long()\nloss = F.cross_entropy(out, t)", OUT, {"t": ""}),
        (MORE, "out = model(x).view(-1, 9)\nt = t.reshape(-1)\nloss = F.cross_entropy(out, t)", OUT, {}),
    ],
)
def test_where_time_comes_first(drawn, loss, forward, unlike):
    (split,) = sequences(drawn, loss, forward).assumed.splits
    assert split.dim == 1
    assert split.unlike == unlike


@pytest.mark.parametrize(
    ("out", "target", "flat"), [("out.view(-1, 1)", "t", True), ("out", "t", False), ("out.view(-1, 1)", "t[:]", False)]
)
def test_where_the_samples_come_first(out, target, flat):
    drawn = "idx = torch.randint(0, 100, (8,))\nx, t = X[idx], y[idx].view(-1)\nout = model(x)"
    (split,) = planned(f"{drawn}\nloss = F.mse_loss({out}, {target})").assumed.splits
    assert split.unlike == ({"t": FLAT} if flat else {})


@pytest.mark.parametrize("made", ["t.view(-1)", "torch.from_numpy(t.numpy().flatten())", "torch.tensor(t.reshape(-1))"])
def test_what_was_flattened_before_it_was_a_tensor(made):
    drawn = f"idx = torch.randint(0, 100, (8,))\nx, t = X[idx], y[idx]\nt = {made}\nout = model(x)"
    (split,) = planned(f"{drawn}\nloss = F.mse_loss(out.view(-1, 1), t)").assumed.splits
    assert split.unlike in ({"t": FLAT}, {})
