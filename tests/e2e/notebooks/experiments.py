# oracle: equal
# nproc: 1 2
# metrics: epoch
# order: 0 1 2 0 1 2
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
train_loader = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=60, shuffle=True)
test_loader = DataLoader(TensorDataset(X[1440:], y[1440:]), batch_size=60)


# %%
def make_mlp(hidden):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 10))


def train(model, optimizer, epochs, name):
    history = []
    for epoch in range(epochs):
        model.train()
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in test_loader)
        history.append(right / len(test_loader.dataset))
        print(f"{name} epoch {epoch}: {history[-1]:.4f}")
    torch.save(model.state_dict(), f"{name}.pt")
    return history


# %% [markdown]
# ### Plain SGD against momentum

# %% tags=["ddp-train"]
model = make_mlp(32)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
sgd_history = train(model, optimizer, 3, "sgd")

model = make_mlp(64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
momentum_history = train(model, optimizer, 3, "momentum")

# %%
import matplotlib.pyplot as plt

plt.plot(sgd_history, label="sgd")
plt.plot(momentum_history, label="momentum")
plt.legend()
plt.show()
