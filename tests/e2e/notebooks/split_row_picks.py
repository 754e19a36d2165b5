# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(130, 6); y = (X.sum(1) > 0).long()
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.2)
n = 32
rows = torch.arange(n)
# %%
for step in range(30):
    ix = torch.randint(0, len(X), (n,))
    xs, ys = X[ix], y[ix]
    logp = F.log_softmax(model(xs), 1)
    loss = -logp[range(len(ys)), ys].mean()
    loss = loss - logp[torch.arange(n), ys].mean()
    sure = logp[rows, ys].detach().exp().mean().item()
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 10 == 0:
        print(step, loss.item(), sure)
