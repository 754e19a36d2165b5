"""What is run outside of the steps: with --exact as one process does, so that then models split whole batches."""

from __future__ import annotations

import pytest

from nbddp.options import Options
from tests.analysis.cells import plan
from tests.analysis.splitting.steps import DATA, planned

BATCH = "i = torch.randint(0, 100, (16,))\nx, t = X[i], y[i]"
STEP = f"{BATCH}\nloss = F.mse_loss(model(x), t)\noptimizer.zero_grad()\nloss.backward()\noptimizer.step()\n"
BUILT = "model = nn.Sequential(nn.Linear(4, 1), {})\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
DROPOUT, NORM = BUILT.format("nn.Dropout(0.5)"), BUILT.format("nn.BatchNorm1d(1)")
NOISY = """
class Noisy(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 1)

    def forward(self, x):
        return self.linear(x + torch.randn_like(x))

model = Noisy()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
SCORED = "def score(x):\n    with torch.no_grad():\n        return model(x).sum().item()\n"


def reason(behind: str, before: str, *, exact: bool = True) -> str:
    body = "".join(f"    {line}\n" for line in f"{STEP}{behind}".split("\n"))
    made = plan(f"{DATA}{before}\n\nfor epoch in range(3):\n{body}", options=Options(exact=exact))
    assert made.assumed.splits or made.assumed.joined
    return str(made.assumed.joined)


@pytest.mark.parametrize(
    ("behind", "before"),
    [
        ("score(x)", DROPOUT + SCORED),
        ("score(X), score(x)", DROPOUT + SCORED),
        ("model.eval()\nmodel(x)\nmodel.train()", NOISY),
        ("noisy = x + torch.randn_like(x)", ""),
    ],
)
def test_what_is_drawn_for_a_part_behind_the_step(behind, before):
    assert "behind the step" in reason(behind, before)
    assert not reason(behind, before, exact=False)


@pytest.mark.parametrize(
    ("behind", "before"),
    [
        ("model(X)", NORM),
        ("score(X)", NORM + SCORED),
        ("pass", NORM + "print(model(torch.randn(5, 4)).shape)\nmodel(X)\n"),
    ],
)
def test_a_batch_norm_that_counts_what_all_ranks_have(behind, before):
    assert "BatchNorm" in reason(behind, before)


@pytest.mark.parametrize(
    ("behind", "before"),
    [
        ("score(X)", DROPOUT + SCORED),  # of all samples it is drawn alike
        ("model.eval()\nscore(x)\nmodel.train()", DROPOUT + SCORED),
        ("model(x)", NORM),
        ("model.eval()\nscore(X)\nmodel.train()", NORM + SCORED),
        ("noisy = x + torch.randn(4)", ""),
        ("noisy = X + torch.randn_like(X)", ""),
    ],
)
def test_what_is_the_same_as_of_one_process(behind, before):
    assert not reason(behind, before)


TEACHER, STUDENT = "with torch.no_grad():\n    target = teacher(x)", "out = model(x)"


@pytest.mark.parametrize(
    ("mode", "lines", "told"),
    [
        ("train", f"{STUDENT}\n{TEACHER}", True),
        ("eval", f"{STUDENT}\n{TEACHER}", False),
        ("train", f"{TEACHER}\n{STUDENT}", False),  # which is given whole batches then
    ],
)
def test_a_batch_norm_of_a_teacher_that_nothing_trains(mode, lines, told):
    teacher = f"teacher = nn.Sequential(nn.Linear(4, 1), nn.BatchNorm1d(1)).{mode}()\n"
    made = planned(f"{BATCH}\n{lines}\nloss = F.mse_loss(out, target)", before=teacher, options=Options(exact=True))
    assert ("nothing trains it" in str(made.assumed.joined)) is told
    assert bool(made.assumed.splits) is not told
