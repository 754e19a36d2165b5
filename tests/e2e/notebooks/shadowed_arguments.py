# oracle: equal
# nproc: 1 2
# %%
# the function takes `opt` and `dataloader` but uses the notebook's `optimizer` and `loader`; nobody has noticed
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(384, 6)
y = x.abs().sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x[:288], y[:288]), batch_size=24, shuffle=True)
eval_loader = DataLoader(TensorDataset(x[288:], y[288:]), batch_size=24)
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)).to(device)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss = nn.MSELoss()


# %%
def run_epoch(model, dataloader, opt, cost=loss, device=device):
    model.train()
    total = 0.0
    for xb, yb in loader:
        xb, yb = xb.to(device), yb.to(device)
        optimizer.zero_grad()
        l = cost(model(xb), yb)
        l.backward()
        optimizer.step()
        total += l.item()
    return total / len(dataloader)


def evaluate(model, dataloader, dev=device):
    total = 0.0
    with torch.no_grad():
        for xb, yb in dataloader:
            total += loss(net(xb.to(dev)), yb.to(dev)).item() * len(xb)
    return total / len(dataloader.dataset)


# %%
for epoch in range(3):
    train_loss = run_epoch(net, loader, optimizer)
    print(f"epoch {epoch} train {train_loss:.5f} eval {evaluate(net, eval_loader):.5f}")
torch.save(net.state_dict(), "net.pt")
