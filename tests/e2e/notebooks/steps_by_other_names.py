# oracle: equal
# nproc: 2
# order: 0 0 0 1 1 1
# values: losses val_losses
# %%
# steps that functions make, under other names; an epoch by partial; a thing that is called; a table of functions
from functools import partial

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 12)
y = (x @ torch.randn(12, 4)).argmax(1)
train_loader = DataLoader(TensorDataset(x[:200], y[:200]), batch_size=20, shuffle=True)
val_loader = DataLoader(TensorDataset(x[200:], y[200:]), batch_size=20)
model = nn.Linear(12, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
criterion = nn.CrossEntropyLoss()


# %%
def make_train_step_fn(model, loss_fn, optimizer):
    def perform_train_step_fn(x, y):
        model.train()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    return perform_train_step_fn


def make_val_step_fn(model, loss_fn):
    def perform_val_step_fn(x, y):
        model.eval()
        return loss_fn(model(x), y).item()

    return perform_val_step_fn


def mini_batch(device, data_loader, step_fn):
    losses = []
    for xb, yb in data_loader:
        losses.append(step_fn(xb.to(device), yb.to(device)))
    return np.mean(losses)


class Step:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.total, self.count = 0.0, 0

    def __call__(self, xb, yb):
        loss = criterion(self.model(xb), yb)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.total += loss.item() * len(yb)
        self.count += len(yb)

    def mean(self):
        mean = self.total / self.count
        self.total, self.count = 0.0, 0
        return mean


def evaluate(xb, yb):
    with torch.no_grad():
        return criterion(model(xb), yb).item()


def epoch_of(fn, loader):
    total = 0.0
    for xb, yb in loader:
        total += fn(xb, yb)
    return total / len(loader)


train_step_fn = make_train_step_fn(model, criterion, optimizer)
val_step_fn = make_val_step_fn(model, criterion)
validate = partial(epoch_of, evaluate)
table = {"train": (partial(epoch_of, train_step_fn), train_loader), "val": (validate, val_loader)}

# %%
losses, val_losses = [], []
step = Step(model, optimizer)
for epoch in range(2):
    losses.append(mini_batch("cpu", train_loader, train_step_fn))
    with torch.no_grad():
        val_losses.append(mini_batch("cpu", val_loader, val_step_fn))
    for batch in train_loader:
        step(*batch)
    print(f"epoch {epoch}: {losses[-1]:.6f} {val_losses[-1]:.6f} {step.mean():.6f} {validate(val_loader):.6f}")
    for name, (fn, loader) in table.items():
        print(name, f"{fn(loader):.6f}")
