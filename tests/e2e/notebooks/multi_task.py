# oracle: equal
# nproc: 1 2
# %%
# two heads, one of them switched on only from the second epoch: its parameters get no gradient before
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(70)
x = torch.randn(480, 10)
label = (x[:, 0] > 0).long()
value = x[:, 1:2] * 2
loader = DataLoader(TensorDataset(x, label, value), batch_size=40, shuffle=True)


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.classify = nn.Linear(32, 2)
        self.regress = nn.Linear(32, 1)

    def forward(self, x, with_regression):
        h = self.trunk(x)
        return self.classify(h), self.regress(h) if with_regression else None


model = TwoHeads()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# %%
for epoch in range(3):
    total = 0.0
    for xb, lb, vb in loader:
        logits, predicted = model(xb, with_regression=epoch >= 1)
        ce = F.cross_entropy(logits, lb)
        loss = ce
        if predicted is not None:
            loss = loss + 0.2 * F.mse_loss(predicted, vb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += ce.item()
    print(f"epoch {epoch} cross entropy {total / len(loader):.5f}")
torch.save(model.state_dict(), "two_heads.pt")
