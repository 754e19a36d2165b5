# oracle: equal
# nproc: 2
# metrics: epoch|after|first
# %%
# one generator between loop and loader, for training and for a look at some batches of the others
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(301, 5)
y = (x.sum(1) > 0).long()
train_loader = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
val_loader = DataLoader(TensorDataset(x[240:], y[240:]), batch_size=8)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()


# %%
def batches(loader, limit=None):
    for number, (features, targets) in enumerate(loader):
        if limit is not None and number >= limit:
            return
        yield number, features * 2.0, targets


for epoch in range(2):
    total = 0.0
    for number, xb, yb in batches(train_loader):
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        if number % 4 == 3:
            print(f"after {number + 1} batches: {total / (number + 1):.6f}")
    right = seen = 0
    with torch.no_grad():
        for number, xb, yb in batches(val_loader, 4):
            right += (model(xb).argmax(1) == yb).sum().item()
            seen += len(yb)
            if number == 0:
                print(f"first sample {xb[0, 0].item():.6f}")
    print(f"epoch {epoch}: {total / len(train_loader):.6f}, {right} of {seen} right")
