# oracle: equal
# nproc: 2
# %%
# an "epoch" is one step on one batch; then a smoke run that builds its own loader and leaves after two
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 6)
y = (x[:, :3].sum(1) > 0).long()
data = TensorDataset(x, y)
train_loader = DataLoader(data, batch_size=24, shuffle=True)
model = nn.Linear(6, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)


# %%
def train_step(model, loader):
    model.train()
    data, target = next(iter(loader))
    optimizer.zero_grad()
    loss = criterion(model(data), target)
    loss.backward()
    optimizer.step()
    return loss.item()


def smoke(model, steps):
    loader = DataLoader(data, batch_size=24)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (xb, yb) in enumerate(loader):
        loss = criterion(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i + 1 >= steps:
            break
    return i + 1


for epoch in range(8):
    loss = train_step(model, train_loader)
    print(f"epoch {epoch}: {loss:.6f}")
print("epoch 8:", smoke(model, 2), "steps")
