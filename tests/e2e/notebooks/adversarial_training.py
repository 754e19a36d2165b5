# oracle: equal
# nproc: 1 2
# %%
# FGSM: a backward for the input's gradient before the one for the weights
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
train_loader = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=72, shuffle=True)
test_loader = DataLoader(TensorDataset(X[1440:], y[1440:]), batch_size=72)
model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
epsilon = 0.05


def fgsm(x, y):
    x = x.clone().requires_grad_(True)
    loss = F.cross_entropy(model(x), y)
    grad = torch.autograd.grad(loss, x)[0]
    return (x + epsilon * grad.sign()).detach()


# %%
for epoch in range(3):
    total = 0.0
    for xb, yb in train_loader:
        adv = fgsm(xb, yb)
        loss = 0.5 * F.cross_entropy(model(xb), yb) + 0.5 * F.cross_entropy(model(adv), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    right = 0
    for xb, yb in test_loader:
        adv = fgsm(xb, yb)
        with torch.no_grad():
            right += (model(adv).argmax(1) == yb).sum().item()
    print(f"epoch {epoch}: loss {total / len(train_loader):.5f}, robust accuracy {right / len(test_loader.dataset):.3f}")
torch.save(model.state_dict(), "robust.pt")
