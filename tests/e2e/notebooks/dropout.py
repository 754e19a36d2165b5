# oracle: alike 0.2
# nproc: 1 2 3
# %%
import torch
from torch import nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
train_loader = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=48, shuffle=True)
valid_loader = DataLoader(TensorDataset(X[1440:], y[1440:]), batch_size=128)

model = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Dropout(0.3), nn.Linear(96, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
loss_fn = nn.CrossEntropyLoss()

# %%
for epoch in range(3):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss_fn(model(xb), yb).backward()
        optimizer.step()

    model.eval()
    with torch.no_grad():
        losses, nums = zip(*[(loss_fn(model(xb), yb).item(), len(xb)) for xb, yb in valid_loader])
    val_loss = sum(l * n for l, n in zip(losses, nums)) / sum(nums)
    print(f"epoch {epoch} {val_loss:.4f}")
torch.save(model.state_dict(), "dropout.pt")
