# oracle: alike 0.15
# nproc: 2
# %%
# which permutation the first epoch takes is free here: 0 or 1
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(300, 3)
y = x @ torch.tensor([[1.0], [2.0], [3.0]])
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
model = nn.Linear(3, 1)
optimizer = optim.SGD(model.parameters(), lr=0.02)
n_epochs = 4

# %%
for epoch in range(1, n_epochs + 1):
    total = 0.0
    for a, b in loader:
        optimizer.zero_grad()
        loss = ((model(a) - b) ** 2).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    with torch.no_grad():
        rest = (model(x) - y).abs().max().item()
    print(f"epoch {epoch}/{n_epochs}: worst {rest:.4f}")
torch.save(model.state_dict(), "line.pt")
