# oracle: equal
# nproc: 2
# %%
# steps, rates and the end of the training are counted in samples
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 6)
y = (x[:, :3].sum(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
wanted, step_every = 600, 48

# %%
seen = since_step = 0
optimizer.zero_grad()
for epoch in range(4):
    total = 0.0
    for xb, yb in loader:
        seen += len(xb)
        since_step += xb.size(0)
        optimizer.param_groups[0]["lr"] = 0.2 * (1 - seen / (wanted + 1))
        loss = nn.functional.cross_entropy(model(xb), yb) / 2
        loss.backward()
        if since_step >= step_every:
            optimizer.step()
            optimizer.zero_grad()
            since_step = 0
        total += loss.item()
        if seen % 120 == 0:
            print(f"epoch {epoch}: {seen} samples, {total:.6f}")
        if seen >= wanted:
            break
    if seen >= wanted:
        break
print(f"ended in epoch {epoch} with rate {optimizer.param_groups[0]['lr']:.6f}")
