# oracle: equal
# nproc: 1 2
# values: curve
# %%
# the curve is made from the whole tensors, outside the loader, with gradients on and in train mode
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(360, 8)
Y = (X[:, :2].sum(1, keepdim=True)).sin()
X_val, Y_val = torch.randn(100, 8), None
Y_val = (X_val[:, :2].sum(1, keepdim=True)).sin()
loader = DataLoader(TensorDataset(X, Y), batch_size=30, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.MSELoss()

# %%
curve = []
for epoch in range(3):
    for xb, yb in loader:
        optimizer.zero_grad()
        criterion(model(xb), yb).backward()
        optimizer.step()
    train_loss = criterion(model(X), Y).item()
    val_loss = criterion(model(X_val), Y_val).item()
    curve.append([train_loss, val_loss])
    print(f"epoch {epoch} train {train_loss:.6f} val {val_loss:.6f}")
torch.save(model.state_dict(), "sine.pt")
