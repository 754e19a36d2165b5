# oracle: equal
# nproc: 1 2
# metrics: ^epoch
# %%
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from torch.utils.data import DataLoader, TensorDataset

# %%
data = load_breast_cancer()
X, y = data.data, data.target
print(X.shape)

# %%
X = (X - X.mean(0)) / X.std(0)
rng = np.random.default_rng(0)
order = rng.permutation(len(X))
X, y = X[order], y[order]

# %%
X_train, X_test = X[:432], X[432:]
y_train, y_test = y[:432], y[432:]
X_train, X_test = map(lambda a: torch.tensor(a, dtype=torch.float32), (X_train, X_test))
y_train, y_test = map(lambda a: torch.tensor(a, dtype=torch.float32), (y_train, y_test))

# %%
batch_size = 16
data = TensorDataset(X_train, y_train)
data = DataLoader(data, batch_size=batch_size, shuffle=True)
test = DataLoader(TensorDataset(X_test, y_test), batch_size=batch_size)

# %%
torch.manual_seed(6)
model = nn.Linear(30, 1)
model = nn.Sequential(model, nn.Flatten(0))
loss = nn.BCEWithLogitsLoss()
lr = 0.5
lr = lr / 10
opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)

# %%
for epoch in range(3):
    total = 0.0
    for X, y in data:
        out = model(X)
        l = loss(out, y)
        opt.zero_grad()
        l.backward()
        opt.step()
        total += l.item() * len(y)
    with torch.no_grad():
        hits = 0
        for X, y in test:
            hits += ((model(X) > 0) == (y > 0.5)).sum().item()
    print(f"epoch {epoch}: loss {total / len(data.dataset):.5f}, accuracy {hits / len(y_test):.4f}")
torch.save(model.state_dict(), "cancer.pt")

# %%
# the names are free again
X = np.array([1.0])
model_size = sum(p.numel() for p in model.parameters())
del opt
print(model_size)
