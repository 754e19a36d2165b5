# oracle: equal
# nproc: 1 2
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_iris
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

# %%
iris = load_iris()
X = torch.tensor(iris.data, dtype=torch.float32)
y = torch.tensor(iris.target)
idx = torch.randperm(150)
train_ds = TensorDataset(X[idx[:120]], y[idx[:120]])
val_ds = TensorDataset(X[idx[120:]], y[idx[120:]])
train_dl = DataLoader(train_ds, batch_size=12, shuffle=True)
val_dl = DataLoader(val_ds, batch_size=30)


# %%
class IrisModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x):
        return self.net(x)

    def loss(self, x, y):
        return F.cross_entropy(self.forward(x), y)

    def predict(self, x):
        return self.forward(x).argmax(dim=1)


# %%
model = IrisModel()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

# %% tags=["ddp-train"]
for epoch in range(4):
    total = 0.0
    for xb, yb in train_dl:
        loss = model.loss(xb, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        acc = sum((model.predict(xb) == yb).sum().item() for xb, yb in val_dl) / len(val_ds)
    print(f"epoch {epoch}: {total / len(train_dl):.6f} {acc:.4f}")

torch.save(model.state_dict(), "iris.pt")
