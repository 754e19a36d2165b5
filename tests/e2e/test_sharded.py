"""A sharded model (`--shard`) trains as one under DDP does, and its checkpoints are good for both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import nbddp
from nbddp.export import Script
from nbddp.notebook import notebook_from_percent
from nbddp.options import Options
from tests.e2e.claims import training
from tests.e2e.outcome import Outcome
from tests.e2e.runner import run_script
from tests.e2e.test_resume import by_hand

START = """# %% tags=["parameters"]
epochs = 3
# %%
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
images, labels = load_digits(return_X_y=True)
images = torch.as_tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
labels = torch.as_tensor(labels)
train_loader = DataLoader(TensorDataset(images[:960], labels[:960]), batch_size=60)
val_loader = DataLoader(TensorDataset(images[960:1161], labels[960:1161]), batch_size=50)
"""
CONVOLUTIONS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 7, 3), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(7 * 16, 10)

    def forward(self, x):
        return self.head(self.layers(x))
"""
TRANSFORMER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Linear(8, 16)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(16, 2, 24, dropout=0.0, batch_first=True) for _ in range(2)
        )
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = self.rows(x.squeeze(1))
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(1))
"""
END = """
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
# %%
for epoch in range(epochs):
    model.train()
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    model.eval()
    held_out, correct = 0.0, 0
    with torch.no_grad():
        for x, y in val_loader:
            output = model(x)
            held_out += nn.functional.cross_entropy(output, y, reduction="sum").item()
            correct += (output.argmax(1) == y).sum().item()
    print(f"epoch {epoch}: {total / len(train_loader):.8f} {held_out / 201:.8f} {correct}")
torch.save(model.state_dict(), "weights.pt")
"""
NETS = {"a convolutional net": CONVOLUTIONS, "a transformer": TRANSFORMER}


def script_of(net: str, *, shard: bool, checkpoints: bool = False) -> Script:
    notebook = notebook_from_percent(START + NETS[net] + END, "sharded.py")
    return nbddp.export(notebook, Options(shard=shard, checkpoints=checkpoints))


def numbers(lines: list[str] | tuple[str, ...]) -> list[float]:
    return [float(word) for line in lines for word in re.findall(r"[\d.]+", line)]


def run(script: Script) -> Outcome:
    return run_script(script.text, "sharded_ddp.py", 2, forked=True, watch=script.watch)


@pytest.mark.parametrize("net", NETS)
def test_it_trains_as_under_ddp(net: str, proved) -> None:
    script = script_of(net, shard=True)
    assert "fully_shard(" in script.text
    proved(training(f"{net}, sharded", script, 2), lambda: trains_as_under_ddp(net))


def trains_as_under_ddp(net: str) -> None:
    sharded, whole = run(script_of(net, shard=True)), run(script_of(net, shard=False))
    assert len(sharded.lines) == len(whole.lines) == 3
    assert numbers(sharded.lines) == pytest.approx(numbers(whole.lines), abs=1e-5)
    assert sharded.states.keys() == whole.states.keys()
    for name, state in whole.states.items():
        assert state.keys() == sharded.states[name].keys()
        for key in state:
            torch.testing.assert_close(sharded.states[name][key], state[key], rtol=0, atol=1e-5)


@pytest.mark.parametrize("sharded_first", [True, False])
def test_its_checkpoint_is_good_under_ddp_and_back(tmp_path: Path, sharded_first: bool, proved) -> None:
    scripts = [script_of("a transformer", shard=kind, checkpoints=True).text for kind in (False, True)]
    first, then = reversed(scripts) if sharded_first else scripts
    claim = training(f"a checkpoint, {'sharded' if sharded_first else 'whole'} at first", first + then, 2)
    proved(claim, lambda: goes_on(tmp_path, scripts[0], first, then))


def goes_on(folder: Path, plain: str, first: str, then: str) -> None:
    whole = by_hand(folder / "whole", plain)
    half = by_hand(folder / "half", first, "--epochs", "2")
    file = folder / "half" / "own_ddp.pt"
    rest = by_hand(folder / "rest", then, "--resume", str(file))
    assert [line.partition(":")[0] for line in rest] == ["epoch 2"]
    assert numbers([*half, *rest]) == pytest.approx(numbers(whole), abs=1e-5)
    weights, expected = (torch.load(folder / place / "weights.pt") for place in ("rest", "whole"))
    assert weights.keys() == expected.keys()
    for key in expected:
        torch.testing.assert_close(weights[key], expected[key], rtol=0, atol=1e-5)
