# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
X = torch.randn(250, 8)
y = (X[:, 0] * 2 - X[:, 3] > 0).long()
Xv, yv = X[200:], y[200:]
X, y = X[:200], y[:200]
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batch_size = 32
# %%
for epoch in range(5):
    perm = torch.randperm(len(X))
    total, correct = 0.0, 0
    for i in range(0, len(X), batch_size):
        idx = perm[i:i + batch_size]
        xb, yb = X[idx], y[idx]
        optimizer.zero_grad()
        out = model(xb)
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
        correct += (out.argmax(1) == yb).sum().item()
    with torch.no_grad():
        val = criterion(model(Xv), yv).item()
    print(f"epoch {epoch}: loss {total / len(X):.5f} acc {correct / len(X):.4f} val {val:.5f}")
