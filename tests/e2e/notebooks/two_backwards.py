# oracle: equal
# nproc: 2
# %%
# two losses of one forward, each with a backward of its own, and a list of losses gone through one by one
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
inputs = torch.randn(240, 6)
signals = torch.stack([inputs.sum(1).sin(), inputs.prod(1).tanh()], 1)
train_loader = DataLoader(TensorDataset(inputs, signals), batch_size=24, shuffle=True)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

# %%
for epoch in range(3):
    first = second = 0.0
    for x, y in train_loader:
        output = net(x)
        optimizer.zero_grad()
        losses = [F.mse_loss(output[:, k], y[:, k]) for k in range(2)]
        for k, loss in enumerate(losses):
            loss.backward(retain_graph=k == 0)
        optimizer.step()
        first += losses[0].item()
        second += losses[1].item()
    print(f"epoch {epoch}: {first / len(train_loader):.5f} and {second / len(train_loader):.5f}")
