"""What has no dimension for the samples is the same on every rank."""

from __future__ import annotations

import pytest

from tests.analysis.splitting.steps import cut, planned

WEIGHTED = "def error(out, target, w):\n    return (w * (out - target) ** 2).mean()\n"


@pytest.mark.parametrize(
    ("weights", "loss", "expected"),
    [
        ("w = torch.ones(4)", "(w * (net(X) - X) ** 2).mean()", ["X"]),
        ("w = 0.9 ** torch.arange(4)", "error(net(X), X, w)", ["X"]),
        ("w = torch.ones(100, 1)", "(w * (net(X) - X) ** 2).mean()", ["X", "w_part"]),
        ("w = torch.ones(100, 4)", "error(net(X), X, w)", ["X", "w_part"]),
    ],
)
def test_weights_are_cut_that_have_rows_for_the_samples(weights, loss, expected):
    net = "net = nn.Linear(4, 4)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)"
    made = planned(f"loss = {loss}", before=f"{WEIGHTED}{weights}\n{net}")
    assert sorted(cut(made)) == expected
