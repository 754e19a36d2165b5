# oracle: equal
# nproc: 2
# %%
# the rate is set by hand: from the number of the step, from the loss of the batch, from the last epoch
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 6)
y = (x[:, :3].sum(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

# %%
base, before = 0.5, float("inf")
for epoch in range(4):
    total = 0.0
    for i, (xb, yb) in enumerate(loader):
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        for group in optimizer.param_groups:
            group["lr"] = base * (1 - 0.5 * (epoch * len(loader) + i) / (4 * len(loader))) * loss.item()
        optimizer.step()
        total += loss.item()
    if total > before * 0.98:
        base *= 0.5
    before = total
    print(f"epoch {epoch}: {total:.6f}, rate {optimizer.param_groups[0]['lr']:.6f}")
