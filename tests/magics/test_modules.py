"""Modules beside the notebook: what a kernel has imported of them goes on in the processes, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.magics.conftest import IMPORTS, end_runs
from tests.magics.kernel import Kernel
from tests.modules.beside import written

pytestmark = pytest.mark.thorough

FILES = {
    "nets.py": """
        from torch import nn


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 1)

            def forward(self, x):
                return self.layer(x)
    """,
    "engine.py": """
        import torch
        import torch.nn.functional as F

        device = torch.device("cpu")


        class Best:
            def __init__(self):
                self.loss, self.calls = float("inf"), 0

            def __call__(self, loss, model):
                self.calls += 1
                if loss < self.loss:
                    self.loss = loss
                    torch.save(model.state_dict(), "best.pt")


        def train_epoch(model, loader, optimizer):
            total = 0.0
            for x, y in loader:
                loss = F.mse_loss(model(x.to(device)), y.to(device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
            return total / len(loader)
    """,
}
SET_UP = """
import engine
from engine import Best
from nets import Net
device = "mine"
torch.manual_seed(0)
xs = torch.randn(64, 4)
loader = DataLoader(TensorDataset(xs, xs.sum(1, keepdim=True)), batch_size=8, shuffle=True)
net, best = Net(), Best()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)"""
TRAIN = """%%ddp_train --nproc 2
for epoch in range(2):
    loss = engine.train_epoch(net, loader, optimizer)
    best(loss, net)
    print(f"{epoch} {loss:.6f}")"""


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    folder = written(tmp_path_factory.mktemp("beside"), FILES)
    kernel = Kernel(folder)
    try:
        for source in (IMPORTS, SET_UP):
            reply = kernel.run(source)
            assert reply.status == "ok", reply.error
        yield kernel
    finally:
        kernel.end()
        end_runs(folder)


def trained(kernel: Kernel) -> Path:
    reply = kernel.run(TRAIN, timeout=120)
    assert reply.status == "ok", reply.error
    return Path(kernel.value("str(run.folder.path)").strip("'"))


def test_a_training_loop_in_a_file_goes_on_from_cell_to_cell(kernel: Kernel) -> None:
    ask = "engine.F.mse_loss(net(xs), xs.sum(1, keepdim=True)).item()"
    before = float(kernel.value(ask))
    script = (trained(kernel) / "script.py").read_text()
    assert "def train_epoch(" in script
    assert "class Best" in script  # which saves
    assert "from nets import Net" in script
    once = float(kernel.value(ask))
    assert once < before
    trained(kernel)
    assert float(kernel.value(ask)) < once
    assert kernel.value("device, type(best).__module__, type(net).__module__") == "mine engine nets"


def test_the_same_numbers_as_in_one_process(kernel: Kernel) -> None:
    report = kernel.run("%ddp verify --steps 3", timeout=120)
    assert "same within rounding" in report.result, report
