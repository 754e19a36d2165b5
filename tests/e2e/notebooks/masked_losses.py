# oracle: equal within 1e-5
# metrics: ^(epoch|val)
# %%
# labels that are left out, a mask and picked samples: a process may have more or fewer of them than another, or none
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(240, 6)
labels = (X[:, 0] + X[:, 1] > 0).long()
labels[torch.rand(240) < 0.6] = -100
target, present = X.sum(1, keepdim=True).sin(), (torch.rand(240) < 0.3).float()
train_set = TensorDataset(X[:192], labels[:192], target[:192], present[:192])
val_set = TensorDataset(X[192:], labels[192:], target[192:], present[192:])
train_loader = DataLoader(train_set, batch_size=12, shuffle=True)
val_loader = DataLoader(val_set, batch_size=16)

# %%
torch.manual_seed(1)
body, classify, regress = nn.Linear(6, 16), nn.Linear(16, 2), nn.Linear(16, 1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.classify, self.regress = body, classify, regress

    def forward(self, x):
        h = torch.tanh(self.body(x))
        return self.classify(h), self.regress(h)


model = Net()
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0]))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)


def masked(out, y, mask):
    losses = F.mse_loss(out, y, reduction="none")[:, 0]
    return (losses * mask).sum() / mask.sum().clamp(min=1)


# %%
for epoch in range(3):
    total = 0.0
    for x, label, y, mask in train_loader:
        scores, out = model(x)
        high = y > 0
        loss = criterion(scores, label) + masked(out, y, mask) + 0.1 * F.l1_loss(out[high], y[high])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    val = right = counted = 0.0
    with torch.no_grad():
        for x, label, y, mask in val_loader:
            scores, out = model(x)
            val += criterion(scores, label).item()
            right += ((scores.argmax(1) == label) & (label >= 0)).sum().item()
            counted += (label >= 0).sum().item()
    print(f"epoch {epoch} loss {total / len(train_loader):.5f}")
    print(f"val {val / len(val_loader):.5f} accuracy {right / counted:.4f}")
