# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch, numpy as np, random
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0); np.random.seed(0); random.seed(0)
X = torch.randn(130, 6); y = (X.sum(1) > 0).long(); yr = X @ torch.arange(6.).unsqueeze(1)
lossf = nn.CrossEntropyLoss()
model = nn.Sequential(nn.Linear(7, 32), nn.ReLU(), nn.Linear(32, 6)); opt = torch.optim.Adam(model.parameters(), 1e-2)
# %%
for step in range(40):
    x0 = X[torch.randint(0, 130, (32,))]
    t = torch.rand(x0.shape[0], 1)
    noise = torch.randn_like(x0)
    xt = (1 - t) * x0 + t * noise
    pred = model(torch.cat([xt, t], 1))
    loss = ((pred - noise) ** 2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 10 == 0: print(step, f"{loss.item():.4f}")
