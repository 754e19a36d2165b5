"""A notebook may call its things as the script calls its own: whatever name either takes, both mean what they did."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nbddp.export import Script, export
from nbddp.notebook import notebook_from_percent
from nbddp.script.launcher_template import FUNCTIONS, TEMPLATE
from nbddp.script.names import words_of
from nbddp.script.part_library import library

NOTEBOOK = """# %% tags=["parameters"]
epochs = 2
# %%
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
lr = 0.1
inputs = torch.randn(48, 4)
train_set = TensorDataset(inputs, (inputs.sum(1) > 0).long())
val_set = TensorDataset(inputs[:21], (inputs[:21].sum(1) > 0).long())
train_loader = DataLoader(train_set, batch_size=8, shuffle=True)
val_loader = DataLoader(val_set, batch_size=8)


# %%
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, features):
        return self.layer(features)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=lr)


def evaluate(net, scale=1):
    hits, shares = 0, []
    with torch.no_grad():
        for x, y in val_loader:
            hits += (net(x).argmax(1) == y).sum().item() * scale
            shares.append(hits)
    return hits / len(val_set), shares


# %%
for epoch in range(epochs):
    total = 0.0
    for x, y in train_loader:
        loss = cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / len(train_loader), evaluate(model, scale=1))
    torch.save(model.state_dict(), "model.pt")
"""
PARTS = 3
OWN = "epochs lr train_loader Net model evaluate scale hits epoch".split()


def vocabulary() -> set[str]:
    """What the launcher and the parts define, import or bind, as far as this script has it; not what both import."""
    nodes = list(ast.walk(ast.parse(TEMPLATE)))
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    parameters = {n.arg for n in nodes if isinstance(n, ast.arg) and n.arg.islower()}
    own = {"train", "rank_device", "ddp_model", "train_sampler", *FUNCTIONS, *library().parts, *library().imports}
    written = words_of(export(notebook_from_percent(NOTEBOOK, "named.py")).text)
    return (bound | parameters | own) & written - {"torch", "nn", "DataLoader"}


def exports(old: str, part: int, parts: int) -> Iterator[tuple[str, Script]]:
    """A keyword of a function that is not the notebook's keeps its name."""
    what = re.compile(rf"\b{old}\b" if old == "scale" else rf"\b{old}\b(?!=)")
    for new in sorted(vocabulary())[part::parts]:
        yield new, export(notebook_from_percent(what.sub(new, NOTEBOOK), "named.py"))


@pytest.mark.parametrize(("part", "old"), [*enumerate(OWN)])
def test_each_name_is_bound_once_and_known(part, old, tmp_path):
    """Each name of the script's stands for some of the notebook's; for all of them with `make test-all`."""
    holds(exports(old, part % PARTS, PARTS), tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("old", OWN)
def test_every_name_of_the_notebook_may_be_any_of_the_script(old, tmp_path):
    holds(exports(old, 0, 1), tmp_path)


def holds(found: Iterator[tuple[str, Script]], tmp_path: Path) -> None:
    """A training is watched whatever its things are called, and no name is unknown or bound twice."""
    for new, script in found:
        (tmp_path / f"{new}.py").write_text(script.text)
        assert "process" in {point.watch.kind for point in script.watch}, new
    assert len(list(tmp_path.iterdir())) > 5
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--select",
        "F,E9,PLE",
        "--output-format",
        "concise",
    ]
    found = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
