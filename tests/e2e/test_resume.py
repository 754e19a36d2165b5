"""A training that stops half way on two processes and goes on from its checkpoint on three ends as one that did not."""

from __future__ import annotations

from pathlib import Path

import torch

import nbddp
from nbddp.export import Script
from nbddp.notebook import notebook_from_percent
from tests.e2e.claims import training
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

DATA = NOTEBOOK.partition("scheduler =")[0]
TRAINER = f"""{DATA}
# %%
class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.counter = patience, None, 0

    def __call__(self, loss):
        if self.best is None or loss < self.best - 10:
            self.best, self.counter = loss, 0
        else:
            self.counter += 1
        return self.counter >= self.patience


class Trainer:
    def __init__(self, model, epochs):
        self.model, self.epochs = model, epochs
        self.history, self.stopping = [], EarlyStopping(patience=3)

    def fit(self):
        for epoch in range(self.epochs):
            self.history.append(self.one_epoch())
            stop = self.stopping(self.history[-1])
            print(f"epoch {{epoch}}: {{self.history}}, {{self.stopping.best:.6f}}, {{self.stopping.counter}}")
            if stop:
                break

    def one_epoch(self):
        total = 0.0
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(self.model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        return round(total / len(train_loader), 4)


# %%
trainer = Trainer(model, epochs)
# %%
trainer.fit()
"""


def script_of(notebook: str) -> Script:
    return nbddp.export(notebook_from_percent(notebook, "resumed.py"))


def run(nproc: int, *options: str, notebook: str = NOTEBOOK, **variables: str) -> Outcome:
    script = script_of(notebook)
    return run_script(
        script.text, "resumed_ddp.py", nproc, forked=True, options=options, watch=script.watch, variables=variables
    )


def test_resume_on_another_number_of_processes(tmp_path: Path, proved) -> None:
    proved(training("a resumed loop", script_of(NOTEBOOK), 3), lambda: goes_on_on_three(str(tmp_path / "half.pt")))


def goes_on_on_three(checkpoint: str) -> None:
    whole = run(2)
    run(2, "--epochs", "2", NBDDP_CHECKPOINT=checkpoint)
    saved = torch.load(checkpoint, weights_only=True)
    assert (saved["epochs_done"], len(saved["random"])) == (2, 2)
    resumed = run(3, NBDDP_RESUME=checkpoint)
    assert resumed.lines == whole.lines[2:]
    for name in ("model", "optimizer", "scheduler"):
        state, expected = resumed.states[name], whole.states[name]
        assert state.keys() == expected.keys()
        for key in expected:
            torch.testing.assert_close(state[key], expected[key], rtol=0, atol=1e-6)


def test_a_trainer_goes_on_with_what_it_remembers(tmp_path: Path, proved) -> None:
    proved(
        training("a resumed trainer", script_of(TRAINER), 2), lambda: stops_where_it_would(str(tmp_path / "half.pt"))
    )


def stops_where_it_would(checkpoint: str) -> None:
    """In the epoch in which it would have stopped, and not as many epochs complete in the checkpoint."""
    whole = run(2, "--epochs", "9", notebook=TRAINER)
    assert len(whole.lines) == 4
    run(2, "--epochs", "2", notebook=TRAINER, NBDDP_CHECKPOINT=checkpoint)
    assert run(2, "--epochs", "9", notebook=TRAINER, NBDDP_RESUME=checkpoint).lines == whole.lines[2:]
