# oracle: equal
# nproc: 1 2
# metrics: ^step
# %%
# evaluation and checkpoint every few steps, in the midst of the epoch
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
train_loader = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=60, shuffle=True)
val_loader = DataLoader(TensorDataset(X[1440:], y[1440:]), batch_size=60)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
eval_every = 10
max_steps = 45


def estimate_accuracy():
    model.eval()
    right = 0
    with torch.no_grad():
        for xb, yb in val_loader:
            right += (model(xb).argmax(1) == yb).sum().item()
    model.train()
    return right / len(val_loader.dataset)


# %%
step = 0
best = 0.0
for epoch in range(3):
    for xb, yb in train_loader:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % eval_every == 0:
            acc = estimate_accuracy()
            print(f"step {step}: val acc {acc:.4f}")
            if acc > best:
                best = acc
                torch.save(model.state_dict(), "best_step.pt")
        if step >= max_steps:
            break
    if step >= max_steps:
        break
torch.save(model.state_dict(), "last_step.pt")
