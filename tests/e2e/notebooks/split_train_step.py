# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(3)
X = torch.randn(120, 3); Y = torch.sin(X.sum(1, keepdim=True))
model = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 1))
opt = torch.optim.Adam(model.parameters(), 0.01)
def train_step(x, y):
    model.train()
    opt.zero_grad()
    out = model(x)
    loss = ((out - y) ** 2).mean()
    loss.backward()
    opt.step()
    return loss.item()
# %%
step = 0
while step < 60:
    ix = torch.randint(0, 120, (20,))
    l = train_step(X[ix], Y[ix])
    step += 1
    if step % 20 == 0:
        with torch.no_grad():
            mse = ((model(X) - Y) ** 2).mean().item()
        print(step, l, mse)
