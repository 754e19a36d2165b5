# oracle: equal
# nproc: 1 2
# %%
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

# %%
torch.manual_seed(0)
n = 640
x = torch.randn(n, 20)
w = torch.randn(20, 1)
y = (x @ w > 0).float()

dataset = TensorDataset(x[:512], y[:512])
val_dataset = TensorDataset(x[512:], y[512:])
dataloader = DataLoader(dataset, 32, True)
val_dataloader = DataLoader(val_dataset, 32)

# %%
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
net = nn.Sequential(
    nn.Linear(20, 16),
    nn.ReLU(),
    nn.Linear(16, 1),
)
net.to(device)
loss_function = nn.BCEWithLogitsLoss()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)


# %%
def train_one_epoch():
    net.train()
    total_loss = 0
    for xb, yb in dataloader:
        opt.zero_grad()
        out = net(xb.to(device))
        loss = loss_function(out, yb.to(device))
        loss.backward()
        opt.step()
        total_loss += loss.item()
    return total_loss / len(dataloader)


def evaluate():
    net.eval()
    hits = 0
    with torch.no_grad():
        for xb, yb in val_dataloader:
            out = torch.sigmoid(net(xb.to(device)))
            hits += ((out > 0.5).float().cpu() == yb).sum().item()
    return hits / len(val_dataset)


# %%
for epoch in range(4):
    epoch_loss = train_one_epoch()
    acc = evaluate()
    print(f'Epoch {epoch}: loss={epoch_loss:.6f} acc={acc:.4f}')
torch.save(net.state_dict(), 'net.pt')
