"""The command on a folder of notebooks, with real runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]
TRAINS = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from widths import WIDTH
# %%
x = torch.randn(40, 6)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
# %%
missing = open("nowhere.csv").read()
print(torch.rand(1))
# %%
model = nn.Sequential(nn.Linear(6, WIDTH), nn.Dropout(0.5), nn.BatchNorm1d(WIDTH), nn.Linear(WIDTH, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
# %%

for epoch in range(50):
    for a, b in loader:
        loss = nn.functional.mse_loss(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
"""
OLD = """
import torch
loader = torch.utils.data.DataLoader(torch.randn(8, 3), batch_size=4)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.data[0])
"""
LACKS = """
import torch
from no_such_package import nothing
loader = torch.utils.data.DataLoader(torch.randn(8, 3), batch_size=4)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# %%
for x in loader:
    loss = model(x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    nothing(loss)
"""
# Here the training itself raises before it trains: taken out, nothing is left that would say why.
GONE = LACKS.replace("for x in loader", "for x in nothing(loader)")
# Steps that are far too long: what was a last digit in the first is everything in the last.
ROUNDS = """
import torch
torch.manual_seed(0)
x = torch.randn(64, 32)
loader = torch.utils.data.DataLoader(x, batch_size=32)
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.Tanh(), torch.nn.Linear(64, 32))
optimizer = torch.optim.SGD(model.parameters(), lr=40.0)
if __name__ == "__main__":
    for turn in range(4):
        for a in loader:
            loss = (model(a).sin() - a).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""
SAMPLES = """
import torch
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(8, 3)
# %%
for sample, _ in zip(x, x):
    loss = model(sample).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def write(path: Path, text: str) -> None:
    sources = [cell.rstrip("\n") for cell in text.split("# %%\n")]
    cells = [
        {"cell_type": "code", "metadata": {}, "source": s, "outputs": [], "execution_count": None} for s in sources
    ]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}), encoding="utf-8")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[subprocess.CompletedProcess[str], Path]:
    folder = tmp_path_factory.mktemp("notebooks")
    for name, text in (("samples", SAMPLES), ("old", OLD), ("lacks", LACKS), ("gone", GONE), ("rounds", ROUNDS)):
        write(folder / f"{name}.ipynb", text)
    write(folder / "trains.ipynb", TRAINS)
    (folder / "trains").mkdir()
    (folder / "trains" / "widths.py").write_text("WIDTH = 5\n")
    (folder / "torn.ipynb").write_text("{")
    command = [
        sys.executable,
        "-m",
        "tests.corpus",
        str(folder),
        "--json",
        str(folder / "found.json"),
        "--seconds",
        "120",
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False), folder


def test_each_notebook_has_its_row_and_the_summary_its_share(finished) -> None:
    process, _ = finished
    assert process.returncode == 0, process.stdout + process.stderr
    assert "2 of 3 (67%) train the same on two" in process.stdout


def test_the_file_says_what_became_of_each(finished) -> None:
    _, folder = finished
    found = json.loads((folder / "found.json").read_text())
    assert {name: verdict["outcome"] for name, verdict in found.items()} == {
        "gone": "does not train here",
        "lacks": "does not train here",
        "old": "does not train here",
        "rounds": "agrees",
        "samples": "refused",
        "torn": "refused",
        "trains": "agrees",
    }
    assert found["trains"]["steps"] == 10  # two epochs
    assert found["trains"]["details"]["removed"] == 1  # the statement whose file is missing
    assert found["gone"]["why"] == "exports; ModuleNotFoundError: No module named 'no_such_package'"
    assert found["samples"]["why"].startswith("shard: ")
    assert "not JSON" in found["torn"]["why"]


@pytest.mark.parametrize(
    ("options", "found"), [([], ("alike", "draws random numbers while it trains")), (["--exact"], ("agrees", ""))]
)
def test_as_it_is_a_training_draws_its_random_numbers(finished, options, found) -> None:
    """Dropout and BatchNorm are taken out of the comparison otherwise: there numbers are equal, here they are alike."""
    _, folder = finished
    command = [sys.executable, "-m", "tests.corpus", str(folder), "--only", "trains", "--as-it-is", *options]
    written = folder / "as_it_is.json"
    subprocess.run([*command, "--json", str(written)], cwd=ROOT, capture_output=True, timeout=300, check=True)
    verdict = json.loads(written.read_text())["trains"]
    assert (verdict["outcome"], verdict["why"]) == found
