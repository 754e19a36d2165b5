# verdict: same
# %%
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)
X = torch.randn(53, 6)
y = X[:, :1] - X[:, 1:2] + 0.5 * torch.randn(53, 1)
train_dl = DataLoader(TensorDataset(X[:36], y[:36]), batch_size=12, shuffle=True)
valid_dl = DataLoader(TensorDataset(X[36:], y[36:]), batch_size=6)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.5)
scheduler = ReduceLROnPlateau(optimizer, mode="min", factor=0.3, patience=0)
mse = nn.MSELoss()


def validate(net, dl):
    total = 0.0
    with torch.no_grad():
        for xb, yb in dl:
            total += mse(net(xb), yb).item() * xb.shape[0]
    return total / len(dl.dataset)


# %%
for epoch in range(6):
    net.train()
    for xb, yb in train_dl:
        optimizer.zero_grad()
        mse(net(xb), yb).backward()
        optimizer.step()
    net.eval()
    va = validate(net, valid_dl)
    scheduler.step(va)
    print(f"epoch {epoch} valid {va:.5f} lr {optimizer.param_groups[0]['lr']:.2e}")
