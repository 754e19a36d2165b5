# oracle: equal
# nproc: 2
# %%
# the mean of a batch, written as a sum of shares; accuracy by the batch size that the loader knows
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 6)
y = (x[:, :3].sum(1) > 0).long() + (x[:, 3] > 0.8).long()
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)

# %%
for epoch in range(3):
    correct, total = 0, 0.0
    for i, (xb, yb) in enumerate(loader):
        output = model(xb)
        losses = F.cross_entropy(output, yb, reduction="none")
        loss = (losses / xb.size(0)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        correct += (output.argmax(1) == yb).sum().item()
        if i % 5 == 4:
            accuracy = 100.0 * correct / (loader.batch_size * (i + 1))
            print(f"epoch {epoch} [{(i + 1) * len(xb)}/{len(loader.dataset)}] {accuracy:.3f}% {total / (i + 1):.6f}")
