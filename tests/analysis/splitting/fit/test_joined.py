"""Models that split the batches that they are given, where no step can."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from tests.analysis.splitting.steps import planned

LOADER = "loader = DataLoader(TensorDataset(X, y), batch_size=32)"
HEAD = "for xb, yb in loader:"
MEET = "z = model(xb)\nloss = (z @ z.T).logsumexp(1).mean()"
TOP = "out, more = model(xb)\nloss = out.topk(3, dim=0).values.mean() + more"
NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 1)
    def forward(self, x):
        {}
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("lines", "forward", "joined"),
    [
        (MEET, "", True),
        (MEET, "return self.out(x).tanh()", True),
        ("loss = (model(xb) - yb).abs().topk(3, dim=0).values.mean()", "", True),
        (TOP, "return self.out(x), self.out(x).mean()", True),
        (MEET, "return self.out(x).sum(0)", False),
        (MEET, "return self.out(x) * (x @ x.T)", False),
        (MEET, "return self.out(x).T", False),
        (TOP, "return self.out(x), self.out(x).sum()", False),
        (f"{MEET}\ng = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)", "", False),
    ],
    ids=str,
)
def test_a_model_gives_something_for_every_sample(lines, forward, joined):
    before = f"{NET.format(forward) if forward else ''}{LOADER}"
    made = planned(lines, head=HEAD, before=before, options=Options(exact=True))
    assert bool(made.assumed.joined) is joined
    assert bool(made.assumed.unsplit) is not joined
    assert not made.assumed.splits


def test_a_step_that_can_be_split_is():
    made = planned("loss = F.mse_loss(model(xb), yb)", head=HEAD, before=LOADER, options=Options(exact=True))
    assert made.assumed.splits
    assert not made.assumed.joined


def test_without_exact_a_loader_is_dealt_out():
    assert not planned(MEET, head=HEAD, before=LOADER).assumed.joined
