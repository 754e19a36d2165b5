"""The end of a process: gloo's threads are gone by then, else they can abort it while Python is taken down."""

from __future__ import annotations

import pytest

from nbddp.export import export
from nbddp.notebook import notebook_from_percent

from .runner import run_script

NOTEBOOK = """# %%
import atexit
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def tell():
    threads = [open(f"/proc/self/task/{thread}/comm").read().strip() for thread in os.listdir("/proc/self/task")]
    print("left:", [thread for thread in threads if "gloo" in thread])


atexit.register(tell)
torch.manual_seed(0)
x = torch.randn(48, 4)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in loader:
        loss = (model(a) - b).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


# A function of the notebook finds the model at the module, where it would stay until the process has gone.
IN_A_FUNCTION = (
    NOTEBOOK.partition("for epoch")[0]
    + """# %%
def train_epoch():
    for a, b in loader:
        loss = (model(a) - b).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
# %%
for epoch in range(2):
    train_epoch()
"""
)


@pytest.mark.parametrize("notebook", [NOTEBOOK, IN_A_FUNCTION], ids=["plain", "in a function"])
@pytest.mark.parametrize("watched", [False, True])
def test_no_thread_of_gloo_is_left(notebook: str, watched: bool) -> None:
    script = export(notebook_from_percent(notebook, "ends.py"))
    outcome = run_script(script.text, "ends_ddp.py", 2, watch=script.watch if watched else ())
    assert outcome.lines == ("left: []",)
