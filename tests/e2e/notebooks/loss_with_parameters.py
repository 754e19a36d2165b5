# oracle: equal
# nproc: 1 2
# metrics: ^Epoch
# %%
# center loss: the criterion has parameters of its own, in the same optimizer
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class CenterLoss(nn.Module):
    def __init__(self, num_classes, feat_dim):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(num_classes, feat_dim))

    def forward(self, feats, labels):
        return (feats - self.centers[labels]).pow(2).sum(1).mean()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.feats = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
        self.out = nn.Linear(4, 10)

    def forward(self, x):
        f = self.feats(x)
        return f, self.out(f)


# %%
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
train_loader = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=48, shuffle=True)
net = Net()
center_loss = CenterLoss(10, 4)
optimizer = torch.optim.Adam(list(net.parameters()) + list(center_loss.parameters()), lr=0.01)

# %%
for epoch in range(3):
    ce_sum, center_sum = 0.0, 0.0
    for xb, yb in train_loader:
        feats, logits = net(xb)
        ce = F.cross_entropy(logits, yb)
        center = center_loss(feats, yb)
        loss = ce + 0.05 * center
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ce_sum += ce.item()
        center_sum += center.item()
    print(f"Epoch {epoch}: cross entropy {ce_sum / len(train_loader):.5f} center {center_sum / len(train_loader):.5f}")
torch.save({"net": net.state_dict(), "centers": center_loss.state_dict()}, "center.pt")
