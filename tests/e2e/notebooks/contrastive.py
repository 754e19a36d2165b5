# oracle: alike 0.3
# nproc: 1 2
# %%
# SimCLR on vectors: two noisy views, in-batch negatives
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(77)
centers = torch.randn(12, 16) * 2
samples = centers.repeat(40, 1) + 0.2 * torch.randn(480, 16)


class TwoViews(Dataset):
    def __init__(self, x, noise=0.1):
        self.x = x
        self.noise = noise

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        x = self.x[i]
        return x + self.noise * torch.randn_like(x), x + self.noise * torch.randn_like(x)


loader = DataLoader(TwoViews(samples), batch_size=48, shuffle=True, drop_last=True)


# %%
class SimCLR(nn.Module):
    def __init__(self, dim=16, out=8, temperature=0.2):
        super().__init__()
        self.temperature = temperature
        self.encoder = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, out))

    def forward(self, a, b):
        z1 = F.normalize(self.encoder(a), dim=1)
        z2 = F.normalize(self.encoder(b), dim=1)
        return z1, z2

    def contrastive_loss(self, z1, z2):
        logits = z1 @ z2.t() / self.temperature
        labels = torch.arange(len(z1), device=z1.device)
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2


model = SimCLR()
opt = torch.optim.Adam(model.parameters(), lr=5e-4)

# %%
for epoch in range(4):
    total = 0.0
    for a, b in loader:
        z1, z2 = model(a, b)
        loss = model.contrastive_loss(z1, z2)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    # how much closer samples of one centre are than others; unlike the loss this does not count negatives
    with torch.no_grad():
        z = F.normalize(model.encoder(samples), dim=1).view(40, 12, -1)
        same = (z[0] * z[1]).sum(-1).mean().item()
        other = (z[0] * z[1].roll(1, 0)).sum(-1).mean().item()
    print(f"epoch {epoch}: separation {same - other:.3f}")

torch.save(model.state_dict(), "simclr.pt")
