# %%
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# %% tags=["parameters"]
epochs = 10
pause = 0.2
# %%
torch.manual_seed(0)
X = torch.randn(512, 10)
y = X.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(X, y), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
# %% tags=["ddp-train"]
losses = []
for epoch in range(epochs):
    total = 0.0
    for xb, yb in loader:
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        time.sleep(pause)
    losses.append(total / len(loader))
    print(f"epoch {epoch}: loss {losses[-1]:.4f}")
