# oracle: equal
# nproc: 1 2
# loaders: rebuilt
# %%
# domain adaptation: labelled source, unlabelled target, zipped
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
source_x = torch.randn(480, 6)
source_y = (source_x[:, 0] + source_x[:, 1] > 0).long()
target_x = torch.randn(480, 6) * 1.2 + 0.5
target_y = (target_x[:, 0] + target_x[:, 1] > 1.0).long()
source_loader = DataLoader(TensorDataset(source_x, source_y), batch_size=32, shuffle=True)
target_loader = DataLoader(TensorDataset(target_x), batch_size=32, shuffle=True)
test_loader = DataLoader(TensorDataset(target_x, target_y), batch_size=32)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
        self.head = nn.Linear(24, 2)

    def forward(self, x):
        return self.head(self.features(x))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)

# %%
for epoch in range(3):
    ce_total = ent_total = 0.0
    for (xs, ys), (xt,) in zip(source_loader, target_loader):
        ce = F.cross_entropy(net(xs), ys)
        p = net(xt).softmax(1)
        entropy = -(p * p.clamp_min(1e-6).log()).sum(1).mean()
        loss = ce + 0.05 * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ce_total += ce.item()
        ent_total += entropy.item()
    with torch.no_grad():
        acc = sum((net(x).argmax(1) == y).sum().item() for x, y in test_loader) / len(target_x)
    print(f"epoch {epoch}: source {ce_total / len(source_loader):.5f} entropy {ent_total / len(source_loader):.5f} target acc {acc:.4f}")
torch.save(net.state_dict(), "adapted.pt")
