# oracle: alike 0.3
# nproc: 1 2 3 5
# metrics: .
# %%
import torch, numpy as np, random
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0); np.random.seed(0); random.seed(0)
X = torch.randn(130, 6); y = (X.sum(1) > 0).long(); yr = X @ torch.arange(6.).unsqueeze(1)
lossf = nn.CrossEntropyLoss()
model = nn.Sequential(nn.Linear(6, 12), nn.Dropout(0.2), nn.Linear(12, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.2)
# %%
for epoch in range(3):
    order = torch.randperm(130)
    for i in range(0, 130, 32):
        idx = order[i:i+32]
        loss = lossf(model(X[idx]), y[idx])
        opt.zero_grad(); loss.backward(); opt.step()
    print(epoch, f"{loss.item():.4f}")
