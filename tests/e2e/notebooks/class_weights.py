# oracle: equal within 1e-5
# nproc: 1 2 3
# metrics: ^epoch
# %%
# a mean weighted by class: each process divides by its part of the weight of all of them
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from torch.utils.data import DataLoader, TensorDataset

X, y = make_classification(n_samples=900, n_features=15, n_informative=8, n_classes=3, weights=[0.7, 0.2, 0.1], random_state=2)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
train_loader = DataLoader(TensorDataset(X[:720], y[:720]), batch_size=48, shuffle=True)
val_loader = DataLoader(TensorDataset(X[720:], y[720:]), batch_size=60)
counts = torch.bincount(y[:720]).float()
class_weights = counts.sum() / (3 * counts)
print(class_weights)

# %%
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(15, 32), nn.ReLU(), nn.Linear(32, 3))
criterion = nn.CrossEntropyLoss(weight=class_weights)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

# %%
for epoch in range(4):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    hits = torch.zeros(3)
    seen = torch.zeros(3)
    with torch.no_grad():
        for xb, yb in val_loader:
            pred = model(xb).argmax(1)
            for c in range(3):
                hits[c] += ((pred == c) & (yb == c)).sum()
                seen[c] += (yb == c).sum()
    balanced = (hits / seen).mean().item()
    print(f"epoch {epoch} balanced accuracy {balanced:.4f} on {int(seen.sum())}")
torch.save(model.state_dict(), "balanced.pt")
