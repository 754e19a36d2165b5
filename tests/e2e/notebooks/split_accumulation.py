# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch, numpy as np, random
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0); np.random.seed(0); random.seed(0)
X = torch.randn(130, 6); y = (X.sum(1) > 0).long(); yr = X @ torch.arange(6.).unsqueeze(1)
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.2)
lossf = nn.CrossEntropyLoss()
# %%
for step in range(12):
    opt.zero_grad()
    for micro in range(3):
        ix = torch.randint(130, (15,))
        loss = lossf(model(X[ix]), y[ix]) / 3
        loss.backward()
    opt.step()
    if step % 4 == 0: print(step, f"{loss.item():.4f}")
