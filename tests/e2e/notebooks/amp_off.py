# oracle: equal
# nproc: 1 2
# values: loss_history
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

use_amp = torch.cuda.is_available()  # no half precision on my laptop
device = "cuda" if use_amp else "cpu"
torch.manual_seed(4)

# %%
t = torch.linspace(0, 50, 1100)
wave = torch.sin(t) + 0.5 * torch.sin(3 * t)
windows = wave.unfold(0, 21, 1)[:1080]
inputs, targets = windows[:, :20].contiguous(), windows[:, 20].contiguous()
loader = DataLoader(TensorDataset(inputs, targets), batch_size=40, shuffle=True)

# %%
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 1)).to(device)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler(device, enabled=use_amp)
loss_history = []

# %% tags=["ddp-train"]
for epoch in range(3):
    epoch_loss = 0.0
    for xb, yb in loader:
        xb, yb = xb.to(device), yb.to(device)
        with torch.autocast(device_type=device, enabled=use_amp):
            loss = F.mse_loss(model(xb).squeeze(1), yb)
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        epoch_loss += loss.item() * len(xb)
    loss_history.append(epoch_loss / len(loader.dataset))
    print("epoch %d: %.6f" % (epoch, loss_history[-1]))
torch.save({"model": model.state_dict(), "scaler": scaler.state_dict(), "epoch": epoch}, "forecast.pt")
