# oracle: equal
# nproc: 1 2
# %%
import pickle

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class TwoLayer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a = nn.Linear(d, 2 * d)
        self.b = nn.Linear(2 * d, 1)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


# %%
torch.manual_seed(0)
x = torch.randn(300, 6)
y = x.max(1, keepdim=True).values
dl = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
model = TwoLayer(6)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

# %%
for epoch in range(3):
    total = 0.0
    for xb, yb in dl:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(dl):.5f}")
    if epoch == 2:
        torch.save(model, "whole_model.pt")

torch.save(model.state_dict(), "weights.pt")
loaded = torch.load("whole_model.pt", weights_only=False)
print(f"epoch {epoch} type of what was saved: {type(loaded).__name__}")
