# oracle: equal
# nproc: 1 2
# %%
import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset

# %%
torch.manual_seed(0)
X, y = load_diabetes(return_X_y=True)
X = StandardScaler().fit_transform(X)
y = (y - y.mean()) / y.std()
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32).view(-1, 1)

train_dl = DataLoader(TensorDataset(X[:352], y[:352]), batch_size=32, shuffle=True)
valid_dl = DataLoader(TensorDataset(X[352:], y[352:]), batch_size=32)

# %%
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = optim.SGD(net.parameters(), lr=0.08, momentum=0.5)
scheduler = ReduceLROnPlateau(optimizer, mode="min", factor=0.3, patience=0)
mse = nn.MSELoss()


# %%
def fit_epoch(net, dl):
    net.train()
    total = 0.0
    for xb, yb in dl:
        optimizer.zero_grad()
        loss = mse(net(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(dl)


def validate(net, dl):
    net.eval()
    total = 0.0
    with torch.no_grad():
        for xb, yb in dl:
            total += mse(net(xb), yb).item() * xb.shape[0]
    return total / len(dl.dataset)


# %%
for epoch in range(8):
    tr = fit_epoch(net, train_dl)
    va = validate(net, valid_dl)
    scheduler.step(va)
    lr = optimizer.param_groups[0]["lr"]
    print(f"epoch {epoch} train {tr:.5f} valid {va:.5f} lr {lr:.2e}")

torch.save(net.state_dict(), "diabetes.pt")
