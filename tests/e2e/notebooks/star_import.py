# oracle: equal
# nproc: 2
# %%
from math import *
from typing import *

import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import *

_ = torch.manual_seed(0)
angle: List[float] = [2 * pi * k / 360 for k in range(360)]
X = torch.tensor([[cos(a), sin(a), cos(2 * a)] for a in angle])
Y = torch.tensor([[sin(3 * a)] for a in angle])
dl = DataLoader(TensorDataset(X, Y), batch_size=30, shuffle=True)
if (n := len(dl)) != 12:
    raise ValueError(n)
model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.02)

# %%
for epoch in range(3):
    total = 0.
    for x, y in dl:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
        total += loss.item()
    print(f"epoch {epoch} {total / n:.5f}")
torch.save(model.state_dict(), "harmonics.pt")
