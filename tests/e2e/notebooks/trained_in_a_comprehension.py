# oracle: equal
# nproc: 2
# %%
# batches gone through by a comprehension; lists that grow by +=
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 12)
y = (x @ torch.randn(12, 4)).argmax(1)
train_loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
again_loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
model = nn.Linear(12, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
criterion = nn.CrossEntropyLoss()


def train_step(xb, yb):
    optimizer.zero_grad()
    loss = criterion(model(xb), yb)
    loss.backward()
    optimizer.step()


# %%
for epoch in range(2):
    [train_step(xb, yb) for xb, yb in train_loader]
    losses, rates = [], []
    for xb, yb in again_loader:
        scores = model(xb)
        loss = criterion(scores, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses += [loss.item()]
        rates += [(scores.argmax(1) == yb).float().mean().item(), 1.0]
    print(f"epoch {epoch}: {losses[0]:.6f} {sum(losses) / len(losses):.6f} {max(rates[::2]):.4f} of {len(rates)}")
