# verdict: same
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
anchors, positives, negatives = torch.randn(3, 72, 8)
loader = DataLoader(TensorDataset(anchors, positives, negatives), batch_size=12, shuffle=True)


class EmbeddingNet(nn.Module):
    def __init__(self, margin=0.5):
        super().__init__()
        self.margin = margin
        self.fc = nn.Sequential(nn.Linear(8, 16), nn.PReLU(), nn.Linear(16, 4, bias=False))

    def forward(self, x):
        return self.fc(x)

    def triplet_loss(self, a, p, n):
        a, p, n = self.forward(a), self.forward(p), self.forward(n)
        return torch.clamp((a - p).pow(2).sum(1) - (a - n).pow(2).sum(1) + self.margin, min=0).mean()


net = EmbeddingNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

# %%
for epoch in range(2):
    losses = 0.0
    for a, p, n in loader:
        optimizer.zero_grad()
        loss = net.triplet_loss(a, p, n)
        loss.backward()
        optimizer.step()
        losses += loss.item()
    print(f"epoch {epoch} loss {losses / len(loader):.6f}")
