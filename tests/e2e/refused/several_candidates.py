# refused: 2 cells train
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, Y = torch.randn(320, 4), torch.randn(320, 1)
loader = DataLoader(TensorDataset(X, Y), batch_size=32, shuffle=True)
criterion = nn.MSELoss()

# %%
linear = nn.Linear(4, 1)
opt1 = torch.optim.SGD(linear.parameters(), lr=0.01)
for epoch in range(3):
    for x, y in loader:
        loss = criterion(linear(x), y)
        opt1.zero_grad()
        loss.backward()
        opt1.step()
    print("linear", epoch, loss.item())
torch.save(linear.state_dict(), "linear.pt")

# %%
deep = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
opt2 = torch.optim.Adam(deep.parameters(), lr=0.01)
for epoch in range(3):
    for x, y in loader:
        loss = criterion(deep(x), y)
        opt2.zero_grad()
        loss.backward()
        opt2.step()
    print("deep", epoch, loss.item())
torch.save(deep.state_dict(), "deep.pt")
