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
for epoch in range(3):
    tot = 0
    for xb, yb in zip(torch.split(X, 40), torch.split(y, 40)):
        out = model(xb)
        loss = lossf(out, yb)
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * xb.shape[0]
    print(epoch, f"{tot / X.shape[0]:.4f}")
