"""Steps that draw their batch without a loader, and the plan that is made of them."""

from __future__ import annotations

from nbddp.analysis import Plan
from nbddp.options import Options
from tests.analysis.cells import plan

DATA = """import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

X, y = torch.randn(100, 4), torch.randn(100, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
STEP = """    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def planned(
    lines: str, *, head: str = "for step in range(9):", before: str = "", options: Options | None = None
) -> Plan:
    """`lines` compute the loss of a turn of the loop."""
    body = "".join(f"    {line}\n" for line in lines.strip().split("\n"))
    return plan(f"{DATA}{before}\n\n{head}\n{body}{STEP}print(loss.item())\n", options=options)


def cut(made: Plan) -> list[str]:
    """What each split deals out, as it is written."""
    (split,) = made.assumed.splits
    inline = sorted(made.program.source(n) for n in split.inline)
    return [*split.names, *inline, *sorted(set(split.renamed.values()))]
