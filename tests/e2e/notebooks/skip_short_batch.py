# oracle: equal
# nproc: 1 2
# %%
# the last batch is short (400 = 8 * 48 + 16) and the loop leaves it out itself
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
batch_size = 48
x = torch.randn(400, 7)
y = (x.sum(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=batch_size, shuffle=True)
model = nn.Sequential(nn.Linear(7, 14), nn.ReLU(), nn.Linear(14, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

# %%
for epoch in range(3):
    total, n_batches = 0.0, 0
    for xb, yb in loader:
        if len(xb) != batch_size:
            continue
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
        n_batches += 1
    print(f"epoch {epoch}: {total / n_batches:.5f} over {n_batches} full batches")
torch.save(model.state_dict(), "full_batches.pt")
