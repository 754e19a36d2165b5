"""One kernel for most tests, as a user has one for a day: what goes wrong in one test may not spoil the next."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbddp.run.folder.folders import runs_in
from nbddp.run.run import Run
from tests.magics.kernel import Kernel

IMPORTS = "%load_ext nbddp\nimport torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset"
PARAMETERS = "epochs = 3\nlr = 0.05"
DATA = """\
torch.manual_seed(0)
xs = torch.randn(64, 4)
ys = xs @ torch.tensor([[1.0], [-2.0], [0.5], [3.0]])
loader = DataLoader(TensorDataset(xs, ys), batch_size=8, shuffle=True)"""
MODEL = """\
torch.manual_seed(1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)"""
BODY = """\
losses = []
for epoch in range(epochs):
    total = 0.0
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    losses.append(total / len(loader))
    print(f"epoch {epoch}: loss {losses[-1]:.5f}")"""
TRAIN = f"%%ddp_train\n{BODY}"
CELLS = {"imports": IMPORTS, "parameters": PARAMETERS, "data": DATA, "model": MODEL, "train": TRAIN}
TAGS = {"parameters": ("parameters",)}
FILE = "digits & co.ipynb"


def write(folder: Path) -> Path:
    """The same cells as a saved notebook."""
    cells = [
        {
            "cell_type": "code",
            "id": name,
            "source": source,
            "metadata": {"tags": list(TAGS.get(name, ()))},
            "outputs": [],
            "execution_count": None,
        }
        for name, source in CELLS.items()
    ]
    path = folder / FILE
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    return path


def set_up(kernel: Kernel) -> None:
    """All cells but the one that trains."""
    for name in ("imports", "parameters", "data", "model"):
        reply = kernel.run(CELLS[name], name, TAGS.get(name, ()), timeout=120)
        assert reply.status == "ok", reply.error


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Kernel, Path]]:
    folder = tmp_path_factory.mktemp("a folder with spaces")
    kernel = Kernel(folder, JPY_SESSION_NAME=str(write(folder)))
    try:
        set_up(kernel)
        yield kernel, folder
    finally:
        kernel.end()
        end_runs(folder)


@pytest.fixture
def kernel(shared: tuple[Kernel, Path]) -> Iterator[Kernel]:
    """With its model as it was built; a cell that a failed test has left waiting ends with its run."""
    kernel, folder = shared
    known = len(runs_in(folder))
    kernel.run(CELLS["parameters"], "parameters", TAGS["parameters"])
    kernel.run(MODEL, "model")
    yield kernel
    end_runs(folder, known)


@pytest.fixture
def folder(shared: tuple[Kernel, Path]) -> Path:
    return shared[1]


def end_runs(folder: Path, known: int = 0) -> None:
    """However a test went, none of its runs goes on; `known` are of tests before it."""
    for run in runs_in(folder)[known:]:
        if Run.attach(run).processes():
            Run.attach(run).stop("kill")
