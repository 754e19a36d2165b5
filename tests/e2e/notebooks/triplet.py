# oracle: equal
# nproc: 1 2
# %%
import random

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset


def set_seed(seed=0):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)


set_seed(13)


# %%
class TripletDigits(Dataset):
    """Anchor, positive and negative, drawn once so that every epoch sees the same triplets."""

    def __init__(self, x, y, n):
        self.x = torch.tensor(x / 16.0, dtype=torch.float32)
        by_class = {c: np.flatnonzero(y == c) for c in range(10)}
        self.triplets = []
        for _ in range(n):
            a, b = random.sample(range(10), 2)
            anchor, positive = np.random.choice(by_class[a], 2, replace=False)
            self.triplets.append((anchor, positive, np.random.choice(by_class[b])))

    def __len__(self):
        return len(self.triplets)

    def __getitem__(self, i):
        a, p, n = self.triplets[i]
        return self.x[a], self.x[p], self.x[n]


digits = load_digits()
train_set = TripletDigits(digits.data[:1400], digits.target[:1400], 720)
test_set = TripletDigits(digits.data[1400:], digits.target[1400:], 150)
train_loader = DataLoader(train_set, batch_size=36, shuffle=True)
test_loader = DataLoader(test_set, batch_size=50)


# %%
class EmbeddingNet(nn.Module):
    def __init__(self, margin=0.5):
        super().__init__()
        self.margin = margin
        self.fc = nn.Sequential(nn.Linear(64, 64), nn.PReLU(), nn.Linear(64, 8, bias=False))

    def forward(self, a, p, n):
        return self.fc(a), self.fc(p), self.fc(n)

    def triplet_loss(self, a, p, n):
        d_pos = (a - p).pow(2).sum(1)
        d_neg = (a - n).pow(2).sum(1)
        return torch.clamp(d_pos - d_neg + self.margin, min=0).mean()


net = EmbeddingNet()
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

# %% tags=["ddp-train"]
for epoch in range(3):
    net.train()
    losses = 0.0
    for a, p, n in train_loader:
        optimizer.zero_grad()
        loss = net.triplet_loss(*net(a, p, n))
        loss.backward()
        optimizer.step()
        losses += loss.item()

    net.eval()
    wins = 0
    with torch.no_grad():
        for a, p, n in test_loader:
            ea, ep, en = net(a, p, n)
            wins += ((ea - ep).norm(dim=1) < (ea - en).norm(dim=1)).sum().item()
    print(f"epoch {epoch} loss {losses / len(train_loader):.6f} ranked right {wins / len(test_set):.4f}")

torch.save(net.state_dict(), "embedding.pt")
