# oracle: equal within 1e-5
# nproc: 2 3
# metrics: .
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(96, 3)
y = X.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(X, y), batch_size=12)
criterion = nn.MSELoss()
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)

# %%
inputs, targets = next(iter(loader))
loss = criterion(model(inputs), targets)

# %%
loss.backward()

# %%
optimizer.step()
optimizer.zero_grad()

# %%
for epoch in range(3):
    total = 0.0
    for inputs, targets in loader:
        loss = criterion(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / len(loader))
