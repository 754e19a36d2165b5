# oracle: alike 0.4
# nproc: 1 2
# metrics: Epoch \d+:
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
X = torch.randn(500, 8)
Y = (X.pow(2).sum(1, keepdim=True) - 8) / 4
dl = DataLoader(TensorDataset(X, Y), batch_size=20, shuffle=True)
mlp = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 1))
opt = torch.optim.Adam(mlp.parameters(), lr=0.01)
loss_fn = nn.L1Loss()

# %%
size = len(dl.dataset)
for t in range(4):
    print(f"Epoch {t+1}\n-------------------------------")
    mlp.train()
    seen = 0
    for batch, (x, y) in enumerate(dl):
        pred = mlp(x)
        loss = loss_fn(pred, y)

        loss.backward()
        opt.step()
        opt.zero_grad()

        seen += len(x)
        if batch % 10 == 0:
            loss, current = loss.item(), batch * len(x)
            print(f"loss: {loss:>7f}  [{current:>5d}/{size:>5d}]")
    mlp.eval()
    with torch.no_grad():
        error = loss_fn(mlp(X), Y).item()
    print(f"Epoch {t+1}: error {error:.4f} after {seen} samples")
torch.save(mlp.state_dict(), "mlp.pth")
