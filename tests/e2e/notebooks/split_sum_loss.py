# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch, numpy as np, random
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0); np.random.seed(0); random.seed(0)
X = torch.randn(130, 6); yr = X @ torch.arange(6.).unsqueeze(1)
lossf = nn.CrossEntropyLoss()
model = nn.Linear(6, 6); opt = torch.optim.Adam(model.parameters(), 1e-2)
# %%
for epoch in range(3):
    train_loss = 0
    for i in range(0, 130, 32):
        x = X[i:i+32]
        rec = model(x)
        loss = F.mse_loss(rec, x, reduction='sum') + 1e-3 * model.weight.pow(2).sum()
        opt.zero_grad(); loss.backward(); opt.step()
        train_loss += F.mse_loss(rec, x, reduction='sum').item()
    print(epoch, f"{train_loss/130:.4f}")
