"""Notebooks as the page sends them."""

from __future__ import annotations

from typing import Any

IMPORTS = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, TensorDataset"
DATA = """\
xs = torch.randn(64, 4)
ys = xs.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(xs, ys), batch_size=8, shuffle=True)"""
MODEL = "model = nn.Linear(4, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.05)"
TRAIN = """\
for epoch in range(3):
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()"""
SHOW = "print(model.weight)"
CELLS = (IMPORTS, DATA, MODEL, TRAIN, SHOW)


def notebook(*sources: str, tags: dict[int, str] | None = None) -> dict[str, Any]:
    cells = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "source": source,
            "metadata": {"tags": [(tags or {})[number]] if number in (tags or {}) else []},
            "execution_count": None,
            "outputs": [],
        }
        for number, source in enumerate(sources or CELLS, start=1)
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


def question(*sources: str, tags: dict[int, str] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": "digits.ipynb", "notebook": notebook(*sources, tags=tags), **more}
