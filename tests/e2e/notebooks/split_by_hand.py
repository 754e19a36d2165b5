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
def accuracy(out, yb):
    return (out.argmax(1) == yb).float().mean()
def get_loss(model, xb, yb):
    out = model(xb)
    return lossf(out, yb), accuracy(out, yb)
# %%
for epoch in range(3):
    accs = []
    for i in range((130 - 1) // 50 + 1):
        xb = X[i*50:(i+1)*50]
        yb = y[i*50:(i+1)*50]
        loss, acc = get_loss(model, xb, yb)
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= p.grad * 0.2
            model.zero_grad()
        accs.append(acc.item())
    print(epoch, f"{sum(accs)/len(accs):.4f}")
