# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
X = torch.randn(50, 4); y = (X[:, 0] > 0).long()
model = nn.Linear(4, 2); opt = torch.optim.SGD(model.parameters(), lr=0.3); crit = nn.CrossEntropyLoss()
# %%
for epoch in range(2):
    preds, flat = [], []
    for i in range(0, 50, 16):
        xb, yb = X[i:i+16], y[i:i+16]
        out = model(xb)
        loss = crit(out, yb)
        opt.zero_grad(); loss.backward(); opt.step()
        preds.append(out.argmax(1))
    p = torch.cat(preds)
    print(epoch, (p == y).sum().item(), p[:20].tolist())
