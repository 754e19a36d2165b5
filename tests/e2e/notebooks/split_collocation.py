# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch, numpy as np, random
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0); np.random.seed(0); random.seed(0)
lossf = nn.CrossEntropyLoss()
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)); opt = torch.optim.Adam(model.parameters(), 1e-2)
xc = torch.linspace(0, 1, 50).view(-1, 1).requires_grad_(True)
xb0 = torch.zeros(1, 1)
# %%
for it in range(30):
    opt.zero_grad()
    u = model(xc)
    du = torch.autograd.grad(u, xc, torch.ones_like(u), create_graph=True)[0]
    loss = ((du + u) ** 2).mean() + ((model(xb0) - 1) ** 2).mean()
    loss.backward()
    opt.step()
    if it % 10 == 0: print(it, f"{loss.item():.4f}")
