# oracle: equal
# nproc: 1 2
# order: 0 1 2 3 4
# metrics: ^Epoch
# %%
import os

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
CHECKPOINT = "checkpoint.pth"

# %%
x = torch.randn(384, 6)
y = torch.tanh(x[:, :1] * 2) + x[:, 1:2]
dataloader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)

# %%
start_epoch = 0
if os.path.isfile(CHECKPOINT):
    checkpoint = torch.load(CHECKPOINT)
    model.load_state_dict(checkpoint["model_state_dict"])
    optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
    scheduler.load_state_dict(checkpoint["scheduler_state_dict"])
    start_epoch = checkpoint["epoch"] + 1
    print("resuming at epoch", start_epoch)

# %% tags=["ddp-train"]
n_epochs = 3
for epoch in range(start_epoch, n_epochs):
    running = 0.0
    for xb, yb in dataloader:
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    scheduler.step()
    print(f"Epoch {epoch} lr {scheduler.get_last_lr()[0]:.5f} loss {running / len(dataloader):.6f}")

    torch.save({
        "epoch": epoch,
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "scheduler_state_dict": scheduler.state_dict(),
    }, CHECKPOINT)
