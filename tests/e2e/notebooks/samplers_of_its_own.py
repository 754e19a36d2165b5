# oracle: equal
# nproc: 2
# %%
# a sampler that each epoch swaps for another; sums weighted by the batch and divided by the sampler's length
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Sampler, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 6)
y = (x[:, :3].sum(1) > 0).long()
data = TensorDataset(x, y)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
criterion = nn.CrossEntropyLoss()


class Window(Sampler):
    def __init__(self, first, length):
        self.first, self.length = first, length

    def __iter__(self):
        return iter([(self.first + i) % 240 for i in range(self.length)])

    def __len__(self):
        return self.length


# %%
for epoch in range(3):
    train_loader = DataLoader(data, batch_size=24, sampler=Window(40 * epoch, 96))
    valid_loader = DataLoader(data, batch_size=10, sampler=Window(40 * epoch + 96, 44))
    train_loss = valid_loss = 0.0
    for xb, yb in train_loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * xb.size(0)
    with torch.no_grad():
        for xb, yb in valid_loader:
            valid_loss += criterion(model(xb), yb).item() * xb.size(0)
    train_loss = train_loss / len(train_loader.sampler)
    valid_loss = valid_loss / len(valid_loader.sampler)
    print(f"epoch {epoch}: {train_loss:.6f} {valid_loss:.6f}")
