# oracle: equal within 1e-5
# nproc: 1 2 4
# metrics: ^\d
# values: weights bias
# %%
# parameters updated by hand, as in lesson 2
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(640, 5)
y = (x @ torch.randn(5, 1)) + 0.1
dl = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
weights = torch.randn(5, 1, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
lr = 0.05

# %%
for epoch in range(3):
    for xb, yb in dl:
        loss = ((xb @ weights + bias - yb) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            weights -= weights.grad * lr
            bias -= bias.grad * lr
            weights.grad.zero_()
            bias.grad.zero_()
    print(epoch, loss.item())
