"""A notebook may call its things as the script calls its own: whatever name either takes, both mean what they did."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from nbddp.export import export
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
OWN = "epochs lr train_loader Net model evaluate scale hits epoch".split()


def vocabulary() -> set[str]:
    """What the launcher and the parts define, import or bind, as far as this script has it; not what both import."""
    nodes = list(ast.walk(ast.parse(TEMPLATE)))
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    parameters = {n.arg for n in nodes if isinstance(n, ast.arg) and n.arg.islower()}
    own = {"train", "rank_device", "ddp_model", "train_sampler", *FUNCTIONS, *library().parts, *library().imports}
    written = words_of(export(notebook_from_percent(NOTEBOOK, "named.py")).text)
    return (bound | parameters | own) & written - {"torch", "nn", "DataLoader"}


def scripts(old: str) -> Iterator[tuple[str, str]]:
    """A keyword of a function that is not the notebook's keeps its name."""
    what = re.compile(rf"\b{old}\b" if old == "scale" else rf"\b{old}\b(?!=)")
    for new in sorted(vocabulary()):
        yield new, export(notebook_from_percent(what.sub(new, NOTEBOOK), "named.py")).text


def test_a_training_is_watched_whatever_its_things_are_called():
    for new, _ in scripts(OWN[0]):
        script = export(notebook_from_percent(re.sub(rf"\b{OWN[0]}\b", new, NOTEBOOK), "named.py"))
        assert "process" in {point.watch.kind for point in script.watch}, new


@pytest.mark.parametrize("old", OWN)
def test_each_name_is_bound_once_and_known(old, tmp_path):
    for new, text in scripts(old):
        (tmp_path / f"{new}.py").write_text(text)
    assert len(list(tmp_path.iterdir())) > 20
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
