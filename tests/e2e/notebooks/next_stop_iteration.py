# oracle: equal
# nproc: 1 2
# %%
# the batches are pulled by hand: next(it) until StopIteration
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(320, 5)
y = (x[:, :1] - x[:, 1:2]).tanh()
dataset = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

# %%
for epoch in range(3):
    it = iter(dataset)
    total, n = 0.0, 0
    while True:
        try:
            xb, yb = next(it)
        except StopIteration:
            break
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        n += 1
    print(f"epoch {epoch}: {total / n:.6f} in {n} batches")
torch.save(model.state_dict(), "pulled.pt")
