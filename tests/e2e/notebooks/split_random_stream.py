# oracle: equal
# nproc: 2 3
# %%
# a stream that draws what it gives, and a loader of our own around another: neither can be dealt out
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

torch.manual_seed(0)
random.seed(0)


class Walks(IterableDataset):
    def __iter__(self):
        for _ in range(110):
            x = torch.randn(4) + random.random()
            yield x, x.sum(0, keepdim=True) * 0.5


class Noisy:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        for x, y in self.loader:
            yield x + 0.1 * torch.randn_like(x), y

    def __len__(self):
        return len(self.loader)


walks = DataLoader(Walks(), batch_size=25)
points = torch.randn(90, 4)
noisy = Noisy(DataLoader(TensorDataset(points, points.sum(1, keepdim=True)), batch_size=20))
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


# %%
def train_on(loader):
    total, n = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
        n += len(x)
    return total / n


for epoch in range(2):
    print(f"epoch {epoch}: {train_on(walks):.4f} {train_on(noisy):.4f}")
torch.save(model.state_dict(), "walks.pt")
