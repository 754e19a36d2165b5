# oracle: equal
# nproc: 1 2 3
# loaders: rebuilt
# %%
# each epoch trains on a part of the data that it draws itself, and is judged by a model that is not set to eval()
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
x_all = torch.randn(600, 4)
y_all = x_all.sum(1, keepdim=True).sin()
data = TensorDataset(x_all, y_all)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Dropout(0.0), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

# %%
history = []
for epoch in range(4):
    chosen = torch.randperm(len(data))[:240]
    loader = DataLoader(Subset(data, chosen.tolist()), batch_size=24, shuffle=True)
    for x, y in loader:
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        noisy = x_all + 0.1 * torch.randn_like(x_all)
        history.append(F.mse_loss(net(noisy), y_all).item())
    print(f"epoch {epoch}: {history[-1]:.6f} on {chosen.sum().item()}")
    if len(history) > 2 and history[-1] > history[-2] > history[-3]:
        break
