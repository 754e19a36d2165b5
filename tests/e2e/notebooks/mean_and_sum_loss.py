# oracle: equal
# %%
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

# %%
torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.data / 16, dtype=torch.float32)
y = torch.tensor(digits.target)
loader = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=48)

# %%
coder = nn.Sequential(nn.Linear(64, 24), nn.Tanh())
decoder = nn.Linear(24, 64)
head = nn.Linear(24, 10)
parts = [*coder.parameters(), *decoder.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(parts, lr=0.002)


def criterion(restored, x, scores, y):
    reconstruction = F.mse_loss(restored, x, reduction="sum")
    return F.cross_entropy(scores, y) + 0.05 * reconstruction


# %%
for epoch in range(3):
    running = 0.0
    for x, y in loader:
        code = coder(x)
        loss = 1e-3 * sum(p.pow(2).sum() for p in parts)
        loss = loss + criterion(decoder(code), x, head(code), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch}: {running / len(loader):.4f}")
