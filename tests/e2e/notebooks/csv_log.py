# oracle: equal
# nproc: 1 2
# saves: log.csv runs/model_2.pt runs/model_0.pt summary.json
# %%
import csv
import json
import logging
import os
from pathlib import Path

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO)
log = logging.getLogger("run")
out_dir = Path("runs")
os.makedirs(out_dir, exist_ok=True)

torch.manual_seed(0)
x = torch.randn(264, 5)
y = (x ** 2).sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x[:216], y[:216]), batch_size=24, shuffle=True)
val_loader = DataLoader(TensorDataset(x[216:], y[216:]), batch_size=24)
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

# %% tags=["ddp-train"]
with open("log.csv", "w", newline="") as f:
    writer = csv.writer(f)
    writer.writerow(["epoch", "train", "val"])
    for epoch in range(3):
        train_loss = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(xb), yb)
            loss.backward()
            optimizer.step()
            train_loss += loss.item()
        train_loss /= len(loader)

        with torch.no_grad():
            val_loss = 0.0
            for xb, yb in val_loader:
                val_loss += nn.functional.mse_loss(model(xb), yb, reduction="sum").item()
        val_loss /= len(val_loader.dataset)

        writer.writerow([epoch, f"{train_loss:.4f}", f"{val_loss:.4f}"])
        log.info("epoch %d done", epoch)
        print(f"epoch {epoch} {train_loss:.5f} {val_loss:.5f}")
        torch.save(model.state_dict(), out_dir / f"model_{epoch}.pt")

with open("summary.json", "w") as f:
    json.dump({"epochs": epoch + 1, "val": round(val_loss, 4)}, f)
