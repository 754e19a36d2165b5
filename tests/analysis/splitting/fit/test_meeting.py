"""What meets the samples of a rank is cut with them."""

from __future__ import annotations

import pytest

from tests.analysis.splitting.steps import cut, planned


@pytest.mark.parametrize("lines", ["with torch.no_grad():\n        hits = model(x).argmax(1) == t.view(1, -1)", ""])
def test_one_row_of_labels_is_no_sample_where_nothing_is_trained_with_it(lines):
    made = planned(
        f"x, t = draw(X, y)\nloss = F.cross_entropy(model(x), t)\n{lines}", before="from drawing import draw"
    )
    assert cut(made) == ["x", "t"]


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
