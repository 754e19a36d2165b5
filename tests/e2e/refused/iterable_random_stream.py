# refused: iterable|stream|shard
# %%
# an endless stream that every process would draw for itself; its length is nowhere said
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset


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
    if step % 50 == 0:
        print(step, loss.item())
    if step == 200:
        break
