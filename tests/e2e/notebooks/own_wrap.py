# oracle: equal
# nproc: 2
# %% [markdown]
# An expert says how the model is wrapped, and how the processes meet.

# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(48, 5)
y = X @ torch.randn(5, 1)
loader = DataLoader(TensorDataset(X, y), batch_size=12, shuffle=True)
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# %% tags=["ddp-wrap"]
from torch.nn.parallel import DistributedDataParallel


def wrap(model, device):
    return DistributedDataParallel(model.to(device), gradient_as_bucket_view=True, static_graph=True)


# %% tags=["ddp-connect"]
from datetime import timedelta

import torch.distributed as dist


def connect(rank, world_size):
    dist.init_process_group("gloo", rank=rank, world_size=world_size, timeout=timedelta(minutes=2))


# %%
for epoch in range(2):
    total = 0.0
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: {total / len(loader):.4f}")
