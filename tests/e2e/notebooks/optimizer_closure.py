# oracle: equal
# nproc: 1 2
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.linspace(-2, 2, 240).unsqueeze(1)
y = torch.sin(2 * x)
loader = DataLoader(TensorDataset(x, y), batch_size=120, shuffle=True)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.MSELoss()

# %%
for epoch in range(4):
    total = 0.0
    for xb, yb in loader:
        for _ in range(10):

            def closure():
                optimizer.zero_grad()
                loss = criterion(model(xb), yb)
                loss.backward()
                return loss

            loss = optimizer.step(closure)
        total += loss.item()
    print(f"epoch {epoch}: {total / len(loader):.4f}")
torch.save(model.state_dict(), "closure.pt")
