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
Xv, yv = X[100:], y[100:]; Xt, yt = X[:100], y[:100]
best, bad = 1e9, 0
# %%
for epoch in range(200):
    out = model(Xt)
    loss = lossf(out, yt)
    opt.zero_grad(); loss.backward(); opt.step()
    train_acc = (out.argmax(1) == yt).float().mean().item()
    with torch.no_grad():
        v = lossf(model(Xv), yv).item()
    if loss.item() < best - 1e-2: best, bad = loss.item(), 0
    else: bad += 1
    if epoch % 10 == 0: print(epoch, f"{loss.item():.4f} {v:.4f} {train_acc:.4f}")
    if bad > 5:
        print("stop", epoch); break
