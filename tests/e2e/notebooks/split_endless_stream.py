# oracle: equal
# nproc: 2 3
# metrics: ^step
# %%
# an endless stream, the same on all processes; its length is nowhere said
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

torch.manual_seed(0)
random.seed(0)


class Stream(IterableDataset):
    def __iter__(self):
        while True:
            a, b = random.random(), random.random()
            yield torch.tensor([a, b]), torch.tensor([a * b])


loader = DataLoader(Stream(), batch_size=16)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())

# %%
for step, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: {loss.item():.5f}")
    if step == 60:
        break
