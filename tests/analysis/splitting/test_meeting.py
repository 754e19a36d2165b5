"""What is computed with the samples of a rank is of the same samples."""

from __future__ import annotations

import pytest

from tests.analysis.splitting.steps import cut, planned


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("loss = ((model(x) - t) ** 2).mean()", ["x", "t"]),
        ("loss = (w * (model(x) - t) ** 2).mean()", ["x", "t", "w"]),
        ("loss = F.mse_loss(model(x), torch.ones(50, 1))", ["x", "torch.ones(50, 1)"]),
        ("loss = F.mse_loss(model(x), t) * rate", ["x", "t"]),
        ("loss = F.mse_loss(model(x), t)\nhits = (model(x) > u).sum()", ["x", "t", "u"]),
        ("loss = F.mse_loss(model(x) * scale, t)", ["x", "t"]),
        ("loss = -model(x).log_softmax(1)[torch.arange(50), t].mean()", ["x", "t"]),
    ],
)
def test_what_meets_the_batch(lines, expected):
    drawn = "x, t, w, u = draw(X, y)"
    found = cut(planned(f"{drawn}\n{lines}", before="from drawing import draw\nrate = 0.1\nscale = torch.ones(1)"))
    assert sorted(found) == sorted(expected)
