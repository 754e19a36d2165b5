# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import numpy as np, torch
from torch import nn
import torch.nn.functional as F
rng = np.random.RandomState(0)
X = rng.randn(200, 5).astype("float32"); t = (X @ rng.randn(5, 1)).astype("float32")
torch.manual_seed(1)
net = nn.Linear(5, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.05)
bs = 30
X, t = torch.from_numpy(X), torch.from_numpy(t)
n = X.shape[0]
# %%
losses = []
for epoch in range(4):
    for b in range(0, n, bs):
        pred = net(X[b:b+bs])
        loss = F.mse_loss(pred, t[b:b+bs])
        opt.zero_grad(); loss.backward(); opt.step()
        losses.append(loss.item())
    print(epoch, sum(losses) / len(losses))
