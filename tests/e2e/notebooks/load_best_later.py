# oracle: equal
# nproc: 1 2
# saves: best_model.pt
# values: best_loss
# metrics: ^epoch|^best
# %%
# the best weights are written while training and read back in the same cell
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(14)
X = torch.randn(312, 3)
y = torch.sin(2 * X).sum(1, keepdim=True)
train_loader = DataLoader(TensorDataset(X[:240], y[:240]), batch_size=16, shuffle=True)
val_loader = DataLoader(TensorDataset(X[240:], y[240:]), batch_size=72)
model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.MSELoss()

# %% tags=["ddp-train"]
best_loss = None
for epoch in range(5):
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()

    with torch.no_grad():
        val_loss = 0
        for xb, yb in val_loader:
            val_loss += criterion(model(xb), yb)
        val_loss = val_loss / len(val_loader)
    print("epoch", epoch, "val", round(val_loss.item(), 5))
    if best_loss is None or val_loss < best_loss:
        best_loss = val_loss
        torch.save(model.state_dict(), "best_model.pt")

model.load_state_dict(torch.load("best_model.pt"))
with torch.no_grad():
    print("best weights give", round(criterion(model(X[240:]), y[240:]).item(), 5))
