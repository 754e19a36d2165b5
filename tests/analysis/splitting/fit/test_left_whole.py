"""What of a loader's batch stays whole beside what is cut: the step cannot be split then."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from tests.analysis.cells import plan
from tests.analysis.splitting.steps import DATA, planned

BEFORE = """loader = DataLoader(TensorDataset(X, y), batch_size=8)
kept = torch.empty(8, 4)
rows = 8
def one_hot(labels):
    return torch.zeros(rows, 4).scatter_(1, labels, 1)
def ones(count):
    return torch.ones(5, 4)
"""


@pytest.mark.parametrize(
    ("lines", "whole"),
    [
        ("loss = F.mse_loss(model(xb), yb)", ""),
        ("kept.copy_(xb)\nloss = F.mse_loss(model(kept + yb), yb)", "xb"),
        ("kept[:] = xb\nloss = F.mse_loss(model(kept + yb), yb)", "xb"),
        ("loss = F.mse_loss(model(one_hot(yb.long())), yb)", "torch.zeros(rows, 4)"),
        ("loss = F.mse_loss(model(xb), yb) + ones(3).sum() * 0", ""),
        ("out = model(xb[:-1])\nloss = F.mse_loss(out, yb[1:])", ""),
        ("print(len(xb))\nloss = F.mse_loss(model(xb), yb)", ""),
    ],
)
def test_left_whole(lines: str, whole: str) -> None:
    made = planned(lines, head="for xb, yb in loader:", before=BEFORE, options=Options(exact=True))
    assert str(made.assumed.joined) == (f"'{whole}' has all samples of the batch" if whole else "")


FACTORS = """count = len(X)
users, items = nn.Parameter(torch.rand(count, 2)), nn.Parameter(torch.rand(4, 2))
scale = nn.Parameter(torch.rand(4))
optimizer = torch.optim.SGD([users, items, scale], lr=0.1)"""


@pytest.mark.parametrize(
    ("loss", "whole"),
    [
        ("(users @ items.T - X).pow(2).mean()", "users @ items.T"),
        ("torch.matmul(users, items.T).add(1).sub(X).pow(2).mean()", "torch.matmul(users, items.T).add(1)"),
        ("(X * scale - X).pow(2).mean()", ""),
    ],
)
def test_parameters_with_a_row_for_each_sample(loss: str, whole: str) -> None:
    made = planned(f"loss = {loss}", before=FACTORS)
    assert str(made.assumed.unsplit) == (f"'{whole}' has all samples of the batch" if whole else "")


TRAINER = """class Trainer:
    def set_input(self, batch):
        self.x, self.y = batch
    def forward(self):
        self.out = model(self.x)
    def learn(self):
        self.loss = F.mse_loss(self.out, {target})
        self.loss.backward()
trainer = Trainer()
"""


@pytest.mark.parametrize(("target", "whole"), [("self.y", "self.y"), ("self.out.detach() + 1", "")])
def test_what_a_method_keeps_of_the_batch(target: str, whole: str) -> None:
    turn = "for i in range(0, 64, 8):\n    trainer.set_input((X[i:i + 8], y[i:i + 8]))\n    trainer.forward()"
    steps = "    optimizer.zero_grad()\n    trainer.learn()\n    optimizer.step()"
    made = plan(f"{DATA}{TRAINER.format(target=target)}\n{turn}\n{steps}\n", options=Options(exact=True))
    assert str(made.assumed.joined) == (f"'{whole}' has all samples of the batch" if whole else "")


@pytest.mark.parametrize(("target", "whole"), [("y", "y"), ("torch.ones_like(found)", "")])
def test_a_target_outside_of_the_function_that_makes_the_batch(target: str, whole: str) -> None:
    before = "def render(scale):\n    q = X * scale\n    return model(q)\n"
    lines = f"found = render(step + 1.0)\nloss = F.mse_loss(found, {target})"
    made = planned(lines, before=before, options=Options(exact=True))
    assert str(made.assumed.joined) == (f"'{whole}' has all samples of the batch" if whole else "")
