# oracle: equal
# nproc: 1 2
# metrics: ^Epoch
# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
import torch.nn as nn
from sklearn.datasets import load_iris
from torch.utils.data import DataLoader, TensorDataset

# %%
iris = load_iris()
df = pd.DataFrame(iris.data, columns=["sl", "sw", "pl", "pw"])
df["species"] = iris.target
df.head()

# %%
df.describe()

# %%
df["species"].value_counts().plot(kind="bar")
plt.show()

# %%
df = df.sample(frac=1, random_state=0).reset_index(drop=True)
features = torch.tensor(df[["sl", "sw", "pl", "pw"]].values, dtype=torch.float32)
species = torch.tensor(df["species"].values)
features = (features - features.mean(0)) / features.std(0)
features[:3]

# %%
train_loader = DataLoader(TensorDataset(features[:120], species[:120]), batch_size=10, shuffle=True)
test_loader = DataLoader(TensorDataset(features[120:], species[120:]), batch_size=10)
xb, yb = next(iter(train_loader))
xb.shape, yb

# %%
plt.figure(figsize=(4, 3))
for c in range(3):
    plt.scatter(*features[species == c][:, :2].T, label=iris.target_names[c])
plt.legend()
plt.tight_layout()

# %%
torch.manual_seed(4)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
print(model)
sum(p.numel() for p in model.parameters())

# %%
# sanity check: the loss of an untrained net should be about log(3)
nn.functional.cross_entropy(model(xb), yb), np.log(3)

# %%
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
train_losses = []
for epoch in range(4):
    running = 0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    train_losses.append(running / len(train_loader))
    with torch.no_grad():
        acc = np.sum([(model(a).argmax(1) == b).sum().item() for a, b in test_loader]) / 30
    print(f"Epoch {epoch}: {train_losses[-1]:.4f} {acc:.4f}")
torch.save(model.state_dict(), "iris.pt")

# %%
plt.plot(train_losses)
plt.show()

# %%
pd.DataFrame({"loss": train_losses}).tail()
