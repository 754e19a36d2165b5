# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
X = torch.randn(101, 3); Y = X.sum(1, keepdim=True)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.3)
lossf = nn.MSELoss()
def train_step(x, y):
    opt.zero_grad()
    loss = lossf(model(x), y)
    loss.backward()
    opt.step()
    return loss.item()
# %%
print(train_step(X, Y))
print(train_step(X, Y))
a = train_step(X[:50], Y[:50])
print(a, f"{lossf(model(X), Y).item():.5f}")
