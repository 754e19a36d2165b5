# oracle: alike 0.3
# nproc: 1 2
# %%
# a coin decides in each step whether the decoder sees the truth: random control flow in the loop
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

random.seed(0)
torch.manual_seed(0)
teacher_forcing_ratio = 0.5
steps = torch.randint(0, 6, (640, 6))
running = steps.cumsum(1) % 6
loader = DataLoader(TensorDataset(steps[:576], running[:576]), batch_size=32, shuffle=True)
test_loader = DataLoader(TensorDataset(steps[576:], running[576:]), batch_size=32)


class Stepper(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Embedding(6, 24)
        self.prev = nn.Embedding(6, 24)
        self.net = nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 6))

    def forward(self, x, truth, forced):
        prev = torch.zeros(len(x), dtype=torch.long, device=x.device)
        outputs = []
        for t in range(x.size(1)):
            out = self.net(torch.cat([self.inp(x[:, t]), self.prev(prev)], 1))
            outputs.append(out)
            prev = truth[:, t] if forced else out.argmax(1)
        return torch.stack(outputs, 1)


model = Stepper()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

# %%
for epoch in range(5):
    for x, y in loader:
        forced = random.random() < teacher_forcing_ratio
        loss = nn.functional.cross_entropy(model(x, y, forced).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = sum((model(x, y, False).argmax(-1) == y).sum().item() for x, y in test_loader)
    print(f"epoch {epoch}: {right / running[576:].numel():.3f} of the digits right")
torch.save(model.state_dict(), "stepper.pt")
