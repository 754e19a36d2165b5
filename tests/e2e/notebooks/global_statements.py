# oracle: equal
# nproc: 1 2
# values: global_step best_loss history
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(50)
X = torch.randn(330, 6)
Y = (X * torch.arange(6.0)).sum(1, keepdim=True) / 6
train_loader = DataLoader(TensorDataset(X[:240], Y[:240]), batch_size=24, shuffle=True)
val_loader = DataLoader(TensorDataset(X[240:], Y[240:]), batch_size=30)

model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.MSELoss()

# %%
global_step = 0
best_loss = 1e9
history = []


def train_epoch():
    global global_step
    running = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        global_step += 1
        running += loss.item()
    history.append(running / len(train_loader))


def validate():
    global best_loss
    total = 0.0
    with torch.no_grad():
        for x, y in val_loader:
            total += criterion(model(x), y).item() * len(x)
    val_loss = total / len(val_loader.dataset)
    if val_loss < best_loss:
        best_loss = val_loss
        torch.save(model.state_dict(), "best.pt")
    return val_loss


# %%
for epoch in range(4):
    train_epoch()
    val_loss = validate()
    print(f"epoch {epoch} after {global_step} steps: train {history[-1]:.5f} val {val_loss:.5f} best {best_loss:.5f}")
