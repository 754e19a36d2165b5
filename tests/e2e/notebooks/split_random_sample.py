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
data = [(X[i], y[i]) for i in range(130)]
# %%
for step in range(30):
    batch = random.sample(data, 25)
    xs = torch.stack([b[0] for b in batch])
    ys = torch.stack([b[1] for b in batch])
    loss = lossf(model(xs), ys)
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 10 == 0: print(step, f"{loss.item():.4f}")
