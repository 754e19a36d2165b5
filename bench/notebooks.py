"""Notebooks to measure on: one that trains, between as many other cells as are asked for."""

from __future__ import annotations

from typing import Any

TRAINING = (
    """import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import matplotlib.pyplot as plt
from torch.utils.data import DataLoader, TensorDataset""",
    """lr = 0.1
batch_size = 50
epochs = 12""",
    """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))""",
    """torch.manual_seed(0)
images = torch.randn(10000, 64)
labels = (images @ torch.randn(64, 10)).argmax(1)
train_set = TensorDataset(images, labels)
train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)""",
    """device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=lr)""",
    """%%ddp_train
for epoch in range(epochs):
    model.train()
    running_loss = 0.0
    began = time.perf_counter()
    for x, y in train_loader:
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    rate = len(train_loader) / (time.perf_counter() - began)
    print(f"epoch {epoch}: loss {running_loss / len(train_loader):.4f}, {rate:.1f} steps/s")""",
)

# The same, with batches that are sliced out of the tensors.
SLICED = (
    *TRAINING[:3],
    TRAINING[3].partition("train_set")[0],
    TRAINING[4],
    """%%ddp_train
for epoch in range(epochs):
    order = torch.randperm(len(images))
    running_loss = 0.0
    began = time.perf_counter()
    for start in range(0, len(images), batch_size):
        idx = order[start:start + batch_size]
        loss = F.cross_entropy(model(images[idx]), labels[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    rate = len(images) / batch_size / (time.perf_counter() - began)
    print(f"epoch {epoch}: loss {running_loss / (len(images) / batch_size):.4f}, {rate:.1f} steps/s")""",
)

# What stands between the cells of a training notebook: a helper that may be needed, a look at the data, a plot, prose.
BETWEEN = (
    '''def scaled_{n}(values, low=0.0, high=1.0):
    """Values between two bounds."""
    spread = values.max() - values.min()
    return low + (values - values.min()) / spread * (high - low)''',
    """column_{n} = [row * {n} for row in range(100) if row % 3]
total_{n} = sum(column_{n}) / len(column_{n})
total_{n}""",
    """figure, axes = plt.subplots(1, 2)
axes[0].plot(column_{n})
axes[1].hist(column_{n}, bins=20)
plt.show()""",
)


def notebook(cells: int) -> dict[str, Any]:
    """As JSON, with this many code cells; the training is spread over all of its length."""
    every = (cells - len(TRAINING)) // len(TRAINING)
    sources = list(TRAINING[:1])
    for source in TRAINING[1:]:
        sources += [_between(len(sources) + number) for number in range(every)]
        sources.append(source)
    sources += [_between(number) for number in range(len(sources), cells)]
    return notebook_of(sources)


def notebook_of(sources: list[str]) -> dict[str, Any]:
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [_cell(source) for source in sources]}


def _between(number: int) -> str:
    kind = number % len(BETWEEN)
    return BETWEEN[kind].replace("{n}", str(number - kind % 3 + 1 if kind == 2 else number))


def _cell(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
