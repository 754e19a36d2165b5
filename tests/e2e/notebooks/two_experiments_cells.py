# oracle: equal
# nproc: 1 2
# metrics: second epoch
# order: 0 1 0 1 2
# saves: second.pt
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(40)
data = torch.randn(480, 6)
target = data.pow(2).sum(1, keepdim=True).sqrt()
loader = DataLoader(TensorDataset(data, target), batch_size=32, shuffle=True)
mse = nn.MSELoss()

# %%
# first attempt: linear
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(2):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = mse(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"first epoch {epoch} {total / len(loader):.5f}")
torch.save(model.state_dict(), "first.pt")

# %% [markdown]
# A linear model cannot do it, of course.

# %%
# second attempt: one hidden layer
torch.manual_seed(41)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

# %% tags=["ddp-train"]
for epoch in range(3):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = mse(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"second epoch {epoch} {total / len(loader):.5f}")
torch.save(model.state_dict(), "second.pt")
