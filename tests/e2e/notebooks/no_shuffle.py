# oracle: equal
# nproc: 1 2
# %%
# the order of a time series matters, so no shuffling
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
t = torch.arange(0, 330, dtype=torch.float32) / 8
series = torch.sin(t) + 0.1 * torch.randn(330)
windows = series.unfold(0, 11, 1)
X, y = windows[:, :10].unsqueeze(-1), windows[:, 10:]
train_dl = DataLoader(TensorDataset(X[:240], y[:240]), batch_size=24)
val_dl = DataLoader(TensorDataset(X[240:], y[240:]), batch_size=24)


# %%
class Forecaster(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.gru(x)[0][:, -1])


model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()

# %%
for epoch in range(4):
    model.train()
    batch_losses = []
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
        batch_losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        squared = 0.0
        for xb, yb in val_dl:
            squared += ((model(xb) - yb) ** 2).sum().item()
    rmse = (squared / len(val_dl.dataset)) ** 0.5
    print(f"epoch {epoch} train {sum(batch_losses) / len(batch_losses):.5f} val rmse {rmse:.5f}")
torch.save(model.state_dict(), "forecaster.pt")
