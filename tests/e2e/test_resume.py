"""A training that stops half way on two processes and goes on from its checkpoint on three ends as one that did not."""

from __future__ import annotations

from pathlib import Path

import torch

import nbddp
from nbddp.notebook import notebook_from_percent
from tests.e2e.outcome import Outcome
from tests.e2e.runner import run_script

NOTEBOOK = """# %% tags=["parameters"]
epochs = 4
# %%
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

images, labels = load_digits(return_X_y=True)
images = torch.as_tensor(images, dtype=torch.float32) / 16
train_set = TensorDataset(images[:1440], torch.as_tensor(labels[:1440]))
train_loader = DataLoader(train_set, batch_size=60, shuffle=True)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
# %%
best, history = float("inf"), []
for epoch in range(epochs):
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()
    history.append(total / len(train_loader))
    best = min(best, history[-1])
    print(f"epoch {epoch}: {history[-1]:.6f}, best {best:.6f}, of {len(history)}")
"""


def run(nproc: int, *options: str) -> Outcome:
    text = nbddp.export(notebook_from_percent(NOTEBOOK, "resumed.py")).text
    return run_script(text, "resumed_ddp.py", nproc, forked=True, options=options)


def test_resume_on_another_number_of_processes(tmp_path: Path) -> None:
    checkpoint = str(tmp_path / "half.pt")
    whole = run(2)
    run(2, "--epochs", "2", "--checkpoint", checkpoint)
    saved = torch.load(checkpoint, weights_only=True)
    assert (saved["epochs_done"], len(saved["random"])) == (2, 2)
    resumed = run(3, "--resume", checkpoint)
    assert resumed.lines == whole.lines[2:]
    for name in ("model", "optimizer", "scheduler"):
        state, expected = resumed.states[name], whole.states[name]
        assert state.keys() == expected.keys()
        for key in expected:
            torch.testing.assert_close(state[key], expected[key], rtol=0, atol=1e-6)
