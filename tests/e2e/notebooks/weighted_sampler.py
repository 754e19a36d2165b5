# oracle: alike 0.3
# nproc: 1 2
# %%
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
X, y = make_classification(n_samples=1200, n_features=12, n_informative=6, weights=[0.9, 0.1], random_state=0)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
train_ds = TensorDataset(X[:960], y[:960])
test_ds = TensorDataset(X[960:], y[960:])

# %%
# oversample the rare class
class_count = torch.bincount(y[:960])
weights = 1.0 / class_count[y[:960]].double()
sampler = WeightedRandomSampler(weights, num_samples=len(weights), replacement=True)
train_loader = DataLoader(train_ds, batch_size=32, sampler=sampler)
test_loader = DataLoader(test_ds, batch_size=64)
class_count

# %%
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

# %%
for epoch in range(4):
    model.train()
    for xb, yb in train_loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    found = rare = right = 0
    with torch.no_grad():
        for xb, yb in test_loader:
            pred = model(xb).argmax(1)
            found += ((pred == 1) & (yb == 1)).sum().item()
            rare += (yb == 1).sum().item()
            right += (pred == yb).sum().item()
    print(f"epoch {epoch}: recall of the rare class {found / rare:.3f}, accuracy {right / len(test_ds):.3f}")

torch.save(model.state_dict(), "balanced.pt")
