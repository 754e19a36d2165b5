"""Models that are tried before the training, in statements that it does not need."""

from __future__ import annotations

import pytest

from tests.analysis.cells import DATA, IMPORTS, TRAINING, plan

MODEL = """
model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def noted(*tries: str, model: str = MODEL) -> list[tuple[int, int | None]]:
    found = plan(IMPORTS, DATA, model, "probe = torch.randn(4, 8)", *tries, TRAINING).found
    return [(d.cell or 0, d.line) for d in found if d.rule == "batch-norm"]


@pytest.mark.parametrize(
    "cell",
    [
        "out = model(probe)",
        "print(model(probe).shape)",
        "with torch.no_grad():\n    out = model(probe)",
        "def show(net):\n    print(net(probe).shape)",
        "from torchsummary import summary\nsummary(model, (8,))",
        "model.eval()\nout = model(probe)\nmodel.train()\nout = model(probe)",
    ],
)
def test_a_pass_in_training_mode_that_is_left_out_is_noted(cell):
    assert len(noted(cell, "show(model)" if "def" in cell else "pass")) == 1


@pytest.mark.parametrize(
    "cell",
    [
        "model.eval()\nout = model(probe)\nmodel.train()",
        "other = nn.BatchNorm1d(8)\nout = other(probe)",
        "%%ddp_train\n" + TRAINING.replace("in train_loader", "in test_loader"),
        '# %% tags=["ddp-setup"]\nout = model(probe)',
        "print(model)",
    ],
    ids=["in evaluation mode", "another model", "the training itself", "kept", "not called"],
)
def test_what_changes_nothing_or_is_kept_is_not(cell):
    assert noted(cell) == []


def test_a_model_without_batch_norm_counts_nothing():
    assert noted("out = model(probe)", model=MODEL.replace("nn.BatchNorm1d(8)", "nn.ReLU()")) == []
