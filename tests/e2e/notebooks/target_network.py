# oracle: equal
# nproc: 2
# %%
# a target network that follows: softly at each step, and all at once at every fourth
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 6)
y = (x[:, :3].sum(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
online = nn.Linear(6, 2)
target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.SGD(online.parameters(), lr=0.1)

# %%
step = 0
for epoch in range(2):
    total = 0.0
    for xb, yb in loader:
        with torch.no_grad():
            soft = F.softmax(target(xb), 1)
        out = online(xb)
        loss = F.cross_entropy(out, yb) + F.kl_div(F.log_softmax(out, 1), soft, reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 4 == 0:
            target.load_state_dict(online.state_dict())
        else:
            for tp, p in zip(target.parameters(), online.parameters()):
                tp.data.mul_(0.9).add_(0.1 * p.data)
        total += loss.item()
    print(f"epoch {epoch}: {total / len(loader):.6f} after {step} steps")
