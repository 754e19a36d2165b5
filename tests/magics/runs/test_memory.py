"""How large the notebook's data is, and whether copies of it fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from nbddp.export import export
from nbddp.magics.runs import memory
from nbddp.magics.runs.memory import bytes_of, free_memory, too_little_memory
from nbddp.notebook import Notebook, cell_from_source

SETUP = """\
import torch
from torch.utils.data import DataLoader, TensorDataset
xs = torch.ones(1000, 250)
unused = torch.ones(1000, 250)
model = torch.nn.Linear(250, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(xs), batch_size=10)"""
LOOP = """\
%%ddp_train
for epoch in range(2):
    for (x,) in loader:
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()"""


class Images:
    def __init__(self) -> None:
        self.files = ["name" * 25] * 5000
        self.cache = {"a": [np.ones(1000)]}
        self.itself = self


class Broken:
    @property
    def device(self) -> Any:
        raise RuntimeError("not now")

    untyped_storage = device


ROWS = torch.ones(1000)


@pytest.mark.parametrize(
    ("things", "number"),
    [
        ([ROWS, ROWS[:10], ROWS.view(10, 100)], 4000),  # one memory
        ([np.ones(1000), [np.ones(1000, np.int8)]], 9000),
        ([DataLoader(TensorDataset(ROWS, torch.ones(1000)), batch_size=10)], 8000),
        ([[torch.ones(10) for _ in range(4000)]], 160_000),
        ([Images()], 508_000),
        ([Broken(), Images, memory, bytes_of, None, 3], 0),
    ],
)
def test_what_data_takes(things, number):
    assert bytes_of(things) == number


def test_a_table():
    assert bytes_of([pd.DataFrame({"x": np.ones(1000)})]) >= 8000


def test_copies_that_do_not_fit_are_told_before_the_start():
    plan = export(Notebook("x.ipynb", (cell_from_source(SETUP, 1), cell_from_source(LOOP, 2)))).plan
    namespace: dict[str, Any] = {}
    exec(SETUP, namespace)
    said = too_little_memory(plan, namespace, 4, free=3_900_000)
    assert said.startswith("The data of this training takes 978 KiB in the notebook, and each of 4 processes")
    assert too_little_memory(plan, namespace, 4, free=4_100_000) == ""
    assert too_little_memory(plan, {}, 4, free=0) == ""


def test_what_is_free_is_what_the_machine_and_the_container_have(tmp_path, monkeypatch):
    assert (free_memory() or 0) > 0
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    assert free_memory() is None
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:       5 kB\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory() == 5120
    (tmp_path / "memory.max").write_text("3000\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert free_memory() == 2000
