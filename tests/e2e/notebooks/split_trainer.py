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
class Trainer:
    def __init__(self, model, X, y):
        self.model, self.X, self.y = model, X, y
        self.opt = torch.optim.SGD(model.parameters(), lr=0.2)
        self.history = []
    def fit(self, epochs, bs=32):
        n = len(self.X)
        for epoch in range(epochs):
            perm = torch.randperm(n)
            ep = 0.0
            for i in range(0, n, bs):
                idx = perm[i:i+bs]
                loss = lossf(self.model(self.X[idx]), self.y[idx])
                self.opt.zero_grad(); loss.backward(); self.opt.step()
                ep += loss.item() * len(idx)
            self.history.append(ep / n)
            print(epoch, f"{ep / n:.4f}")
# %%
t = Trainer(model, X, y)
t.fit(3)
