"""The standard of a script: what comes out of the notebook that everybody begins with."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nbddp

DIGITS = """# %%
%load_ext nbddp
import torch
import torch.nn as nn
import torch.nn.functional as F
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split

# %% tags=["parameters"]
lr = 0.1
batch_size = 64
epochs = 3

# %%
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3)
        self.fc = nn.Linear(16 * 36, 10)

    def forward(self, x):
        return self.fc(F.relu(self.conv(x)).flatten(1))


def count_correct(x, y):
    # the notebook's model, as it is when this is called
    return (model(x.to(device)).argmax(1) == y.to(device)).sum().item()

# %%
torch.manual_seed(0)
digits = load_digits()
data = TensorDataset(torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16, torch.tensor(digits.target))
train_set, test_set = random_split(data, [1437, 360])
train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
test_loader = DataLoader(test_set, batch_size=256)
digits.images.shape

# %%
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
print(model)

# %%
%%ddp_train
for epoch in range(epochs):
    model.train()
    running_loss = 0.0
    for x, y in train_loader:
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running_loss += loss.item()  # of this batch

    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += count_correct(x, y)
    print(f"epoch {epoch}: loss {running_loss / len(train_loader):.4f}, accuracy {correct / len(test_set):.4f}")

torch.save(model.state_dict(), "digits.pt")

# %%
plt.imshow(digits.images[0])
plt.show()
"""

BY_HAND = """# %%
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
model = DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = (model(x) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "digits.py"
    path.write_text(DIGITS)
    return path


@pytest.fixture
def script(notebook: Path) -> nbddp.Script:
    return nbddp.export(notebook)


def test_nothing_is_said(script):
    assert script.diagnostics == ()


def ruff(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "ruff", *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", [["check"], ["format", "--check", "--diff", "--line-length", "120"]], ids=" ".join)
def test_ruff_has_nothing_to_say(script, tmp_path, command):
    pytest.importorskip("ruff")
    path = tmp_path / "digits_ddp.py"
    path.write_text(script.text)
    done = ruff(command[0], "--isolated", "--no-cache", *command[1:], str(path))
    assert done.returncode == 0, done.stdout


def test_a_second_export_gives_the_same_bytes(script, notebook):
    assert nbddp.export(notebook).text == script.text


def test_where_things_go(script):
    tree = ast.parse(script.text)
    top = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    assert top[:3] == ["Net", "count_correct", "train"]
    assert top[3:] == ["sum_over_ranks", "run", "spawned", "free_port", "main"]
    constants = [t.id for n in tree.body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]
    assert constants[:3] == ["lr", "batch_size", "epochs"]


def test_what_is_imported(script):
    imported = {n.names[0].name for n in ast.walk(ast.parse(script.text)) if isinstance(n, ast.Import)}
    assert "torch" in imported
    assert not [n for n in imported if n.startswith(("matplotlib", "nbddp"))]
    assert "import nbddp" not in script.text


@pytest.mark.parametrize(
    "line",
    [
        "train_sampler = DistributedSampler(train_set)",
        "train_loader = DataLoader(train_set, batch_size=batch_size // world_size, sampler=train_sampler)",
        "model = Net().to(device)",
        "ddp_model = DDP(model)  # the same parameters; their gradients are averaged over all processes",
        "loss = F.cross_entropy(ddp_model(x), y)",
        "train_sampler.set_epoch(epoch)",
        "running_loss += loss.item()  # of this batch",
        "running_loss = sum_over_ranks(running_loss) / world_size",
        "test_loader = DataLoader(test_set, batch_size=256, sampler=range(rank, len(test_set), world_size))",
        "correct = sum_over_ranks(correct)",
        "if rank == 0:",
    ],
)
def test_lines_that_an_expert_would_write(script, line):
    assert line in [written.strip() for written in script.text.splitlines()]


def test_lines_that_no_rule_needs_are_as_they_were(script):
    kept = {line.strip() for line in script.text.splitlines()}
    for line in ("x, y = x.to(device), y.to(device)", "for x, y in test_loader:", "optimizer.step()"):
        assert line in kept
    assert "# the notebook's model, as it is when this is called" in kept


def test_every_line_that_has_a_place_is_the_notebooks(script):
    places = [place for place in script.line_map if place is not None]
    cells = {number for number, _ in places}
    assert cells == {1, 2, 3, 4, 5, 6} - {1} | {c for c in cells if c == 1}
    assert len(script.line_map) == len(script.text.split("\n"))


def test_the_command_line_has_the_parameters(script):
    for option in ("--lr", "--batch-size", "--epochs", "--nproc"):
        assert f'"{option}"' in script.text


def test_a_notebook_that_uses_ddp_already_is_recognised(tmp_path):
    path = tmp_path / "by_hand.py"
    path.write_text(BY_HAND)
    with pytest.raises(nbddp.CannotExport) as refused:
        nbddp.export(path)
    assert "already-ddp" in [d.rule for d in refused.value.diagnostics]
