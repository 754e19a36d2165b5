# oracle: equal
# nproc: 1 2 3
# values: best_epoch best_acc
# metrics: Epoch|best
# %%
import copy
import torch
import torch.nn as nn
from sklearn.datasets import make_moons
from torch.utils.data import DataLoader, TensorDataset

# %%
X, y = make_moons(n_samples=540, noise=0.25, random_state=1)
X = torch.tensor(X, dtype=torch.float)
y = torch.tensor(y, dtype=torch.float)

train_set = TensorDataset(X[:480], y[:480])
valid_set = TensorDataset(X[480:], y[480:])
train_loader = DataLoader(train_set, batch_size=24, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=len(valid_set))

# %%
torch.manual_seed(2)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0)).to(device)
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.02)
loss_fn = nn.BCEWithLogitsLoss()

# %%
best_acc = 0.0
best_epoch = -1
best_weights = None

for epoch in range(6):
    model.train()
    epoch_loss = 0.0
    for xb, yb in train_loader:
        xb, yb = xb.to(device), yb.to(device)
        loss = loss_fn(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()

    model.eval()
    with torch.no_grad():
        n_correct = 0
        for xb, yb in valid_loader:
            pred = model(xb.to(device)) > 0
            n_correct += (pred.cpu() == yb.bool()).sum().item()
    acc = n_correct / len(valid_set)
    print(f"Epoch {epoch}: loss {epoch_loss / len(train_loader):.5f} acc {acc:.4f}")

    if acc > best_acc:
        best_acc, best_epoch = acc, epoch
        best_weights = copy.deepcopy(model.state_dict())
        torch.save({"epoch": epoch, "model": best_weights, "optimizer": optimizer.state_dict(), "acc": acc}, "best.pth")

model.load_state_dict(best_weights)
print(f"best accuracy {best_acc:.4f} in epoch {best_epoch}")
torch.save(model.state_dict(), "final.pt")
