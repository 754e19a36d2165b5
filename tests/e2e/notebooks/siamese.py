# oracle: equal
# nproc: 1 2
# %%
# one network, called twice a step
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)


class Pairs(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        centers = torch.randn(5, 10, generator=torch.Generator().manual_seed(99))
        a, b = torch.randint(0, 5, (2, n), generator=g)
        b = torch.where(torch.rand(n, generator=g) < 0.4, a, b)
        self.x1 = centers[a] + 0.3 * torch.randn(n, 10, generator=g)
        self.x2 = centers[b] + 0.3 * torch.randn(n, 10, generator=g)
        self.same = (a == b).float()

    def __len__(self):
        return len(self.same)

    def __getitem__(self, i):
        return (self.x1[i], self.x2[i]), self.same[i]


train_loader = DataLoader(Pairs(480, 0), batch_size=32, shuffle=True)
test_loader = DataLoader(Pairs(111, 1), batch_size=32)


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, d, same):
        return (same * d.pow(2) + (1 - same) * F.relu(self.margin - d).pow(2)).mean()


branch = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 3))
criterion = ContrastiveLoss()
optimizer = torch.optim.Adam(branch.parameters(), lr=0.005)

# %%
for epoch in range(3):
    total = 0.0
    for (a, b), same in train_loader:
        out_a = branch(a)
        out_b = branch(b)
        loss = criterion(F.pairwise_distance(out_a, out_b), same)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    distances, truth = [], []
    with torch.no_grad():
        for (a, b), same in test_loader:
            distances += F.pairwise_distance(branch(a), branch(b)).tolist()
            truth += same.tolist()
    right = sum((d < 0.5) == (s == 1) for d, s in zip(distances, truth))
    print(f"epoch {epoch}: loss {total / len(train_loader):.5f}, {right} of {len(truth)} pairs right")
torch.save(branch.state_dict(), "branch.pt")
