"""A training that runs where nobody reads it."""

from __future__ import annotations

import pytest

from nbddp.analysis.training.unreadable_training import sets_up_ddp, trains_elsewhere
from tests.analysis.cells import flow

NAMES = """
import torch
import engine
from helpers import fit, Warmup, look
optimizer = torch.optim.SGD(params, lr=0.1)
self.best = torch.optim.SGD(params, lr=0.1)
def step(x):
    x.backward()
"""


@pytest.mark.parametrize(
    "line",
    ["engine.train(model, optimizer, loader)", "fit(model, opt=optimizer)", "fit(step, loader)", "fit(self.best)"],
)
def test_a_function_of_a_module_gets_the_optimizer(line):
    found = trains_elsewhere(flow(NAMES, line))
    assert found is not None
    assert (found.level, found.cell) == ("error", 2)


@pytest.mark.parametrize(
    "line", ["look(model, loader)", "w = Warmup(optimizer)", "print(optimizer)", "torch.save(optimizer, 'x')"]
)
def test_others_train_nothing(line):
    assert trains_elsewhere(flow(NAMES, line)) is None


@pytest.mark.parametrize(
    ("line", "yes"),
    [
        ("torch.distributed.init_process_group('gloo')", True),
        ("m = torch.nn.parallel.DistributedDataParallel(model)", True),
        ("m = torch.nn.DataParallel(model)", False),
    ],
)
def test_a_notebook_that_sets_up_processes_itself(line, yes):
    assert (sets_up_ddp(flow("import torch", line)) is not None) is yes
