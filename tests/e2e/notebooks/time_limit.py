# oracle: equal
# nproc: 1 2
# %%
# stops when the time is up; each rank's clock is its own
import time

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(360, 4)
y = x.abs().sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=36, shuffle=True)
model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
time_limit = 600  # seconds

# %%
start = time.time()
for epoch in range(4):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: {total / len(loader):.5f}")
    if time.time() - start > time_limit:
        print("out of time")
        break
torch.save(model.state_dict(), "abs.pt")
