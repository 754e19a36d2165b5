# oracle: equal
# nproc: 1 2
# values: lrs
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X, dtype=torch.float32) / 16, torch.tensor(y)
train_dl = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=72, shuffle=True)
valid_dl = DataLoader(TensorDataset(X[1440:], y[1440:]), batch_size=72)

# %%
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
max_lr = 0.02
epochs = 3
grad_clip = 0.5
weight_decay = 1e-4


# %%
def get_lr(optimizer):
    for param_group in optimizer.param_groups:
        return param_group["lr"]


@torch.no_grad()
def evaluate(model, valid_dl):
    model.eval()
    right = 0
    for xb, yb in valid_dl:
        right += (model(xb).argmax(1) == yb).sum().item()
    return right / len(valid_dl.dataset)


optimizer = torch.optim.Adam(model.parameters(), max_lr, weight_decay=weight_decay)
# Set up one-cycle learning rate scheduler
sched = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr, epochs=epochs, steps_per_epoch=len(train_dl))

# %% tags=["ddp-train"]
lrs = []
for epoch in range(epochs):
    model.train()
    train_losses = []
    for xb, yb in train_dl:
        loss = F.cross_entropy(model(xb), yb)
        train_losses.append(loss.detach())
        loss.backward()

        # Gradient clipping
        if grad_clip:
            nn.utils.clip_grad_value_(model.parameters(), grad_clip)

        optimizer.step()
        optimizer.zero_grad()

        # Record & update learning rate
        lrs.append(get_lr(optimizer))
        sched.step()

    train_loss = torch.stack(train_losses).mean().item()
    acc = evaluate(model, valid_dl)
    print(f"Epoch [{epoch}], last_lr: {lrs[-1]:.5f}, train_loss: {train_loss:.4f}, val_acc: {acc:.4f}")

torch.save(model.state_dict(), "onecycle.pth")
