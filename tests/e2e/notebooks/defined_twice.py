# oracle: equal
# nproc: 1 2
# metrics: ^epoch
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


# %%
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x)


def criterion(pred, y):
    return (pred - y).abs().mean()


# %%
torch.manual_seed(1)
X = torch.rand(288, 4) * 2 - 1
y = (X[:, :1] * X[:, 1:2] * 4 + X[:, 2:3])
loader = DataLoader(TensorDataset(X, y), batch_size=24, shuffle=True)
print("untrained:", criterion(Net()(X), y).item())


# %% [markdown]
# One layer is not enough. Second version, deeper and with the squared error:

# %%
class Net(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.fc1 = nn.Linear(4, hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def criterion(pred, y):
    return ((pred - y) ** 2).mean()


# %%
torch.manual_seed(2)
net = Net(hidden=48)
opt = torch.optim.Adam(net.parameters(), lr=0.02)


# %%
def train(n):
    print("not this one", n)


# %%
def train(n):
    for epoch in range(n):
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = criterion(net(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.6f}")


train(4)
torch.save(net.state_dict(), "net.pt")


# %%
def criterion(pred, y):
    # for reporting: relative error
    return (pred - y).norm() / y.norm()


with torch.no_grad():
    print("relative error", criterion(net(X), y).item())
