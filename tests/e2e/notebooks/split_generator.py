# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch, numpy as np
from torch import nn
torch.manual_seed(0); np.random.seed(0)
X = np.random.randn(130, 6).astype(np.float32); Y = (X.sum(1) > 0).astype(np.int64)
def batches(X, Y, bs):
    order = np.random.permutation(len(X))
    for i in range(0, len(X), bs):
        j = order[i:i+bs]
        yield torch.from_numpy(X[j]), torch.from_numpy(Y[j])
model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
lossf = nn.CrossEntropyLoss()
# %%
def train_epoch():
    model.train()
    s, hits, count = 0, 0, 0
    for x, y in batches(X, Y, 24):
        opt.zero_grad()
        out = model(x)
        loss = lossf(out, y)
        loss.backward()
        opt.step()
        s += loss.item()
        hits += (out.argmax(1) == y).sum().item(); count += y.size(0)
    return s, hits / count
for e in range(3):
    s, acc = train_epoch()
    print(e, round(s, 6), acc)
