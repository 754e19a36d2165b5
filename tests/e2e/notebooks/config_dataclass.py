# oracle: equal
# nproc: 1 2
# %%
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class CFG:
    seed: int = 2022
    train_bs: int = 32
    valid_bs: int = 64
    epochs: int = 3
    lr: float = 1e-2
    n_features: int = 9
    device: str = "cuda" if torch.cuda.is_available() else "cpu"


cfg = CFG(epochs=4)
torch.manual_seed(cfg.seed)

# %%
X = torch.randn(700, cfg.n_features)
y = torch.sin(X).sum(1)
train_loader = DataLoader(TensorDataset(X[:576], y[:576]), batch_size=cfg.train_bs, shuffle=True)
valid_loader = DataLoader(TensorDataset(X[576:], y[576:]), batch_size=cfg.valid_bs)


class Model(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(cfg.n_features, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.body(x).squeeze(-1)


# %%
def train_one_epoch(model, optimizer, dataloader, device):
    model.train()
    dataset_size = 0
    running_loss = 0.0
    for xb, yb in dataloader:
        xb = xb.to(device, dtype=torch.float)
        yb = yb.to(device, dtype=torch.float)
        batch_size = xb.size(0)

        loss = nn.HuberLoss()(model(xb), yb)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

        running_loss += loss.item() * batch_size
        dataset_size += batch_size
        epoch_loss = running_loss / dataset_size
    return epoch_loss


@torch.no_grad()
def valid_one_epoch(model, dataloader, device):
    model.eval()
    dataset_size = 0
    running_loss = 0.0
    for xb, yb in dataloader:
        loss = nn.HuberLoss()(model(xb.to(device)), yb.to(device))
        running_loss += loss.item() * xb.size(0)
        dataset_size += xb.size(0)
    return running_loss / dataset_size


# %% tags=["ddp-train"]
model = Model(cfg).to(cfg.device)
optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
best = float("inf")
for epoch in range(cfg.epochs):
    tr_loss = train_one_epoch(model, optimizer, train_loader, cfg.device)
    va_loss = valid_one_epoch(model, valid_loader, cfg.device)
    print(f"Epoch {epoch}: train {tr_loss:.5f} valid {va_loss:.5f}")
    if va_loss < best:
        print(f"Epoch {epoch}: improved {best:.5f} -> {va_loss:.5f}")
        best = va_loss
        torch.save(model.state_dict(), "best.bin.pt")
