# oracle: alike 0.2
# nproc: 1 2
# %%
# the loader is built anew in every epoch, with a batch that grows
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(480, 8)
y = (X[:, 0] * 2 - X[:, 3] > 0).float()
dataset = TensorDataset(X, y)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.BCEWithLogitsLoss()

# %%
for epoch in range(4):
    loader = DataLoader(dataset, batch_size=16 * (epoch + 1), shuffle=True)
    running, n = 0.0, 0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(xb)
        n += len(xb)
    print(f"epoch {epoch} loss {running / n:.4f}")
torch.save(model.state_dict(), "growing.pt")
