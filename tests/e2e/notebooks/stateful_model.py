# oracle: equal within 1e-5
# nproc: 2
# %%
# the model keeps its hidden state from one batch for the next, and is told when to forget it
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
series = torch.sin(torch.arange(1200) / 7) + 0.1 * torch.randn(1200)
windows = series.unfold(0, 9, 4)[:288]
train_loader = DataLoader(TensorDataset(windows[:240, :8], windows[:240, 8]), batch_size=24, shuffle=True)
test_loader = DataLoader(TensorDataset(windows[240:, :8], windows[240:, 8]), batch_size=12)


# %%
class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(8, 12)
        self.out = nn.Linear(12, 1)
        self.state = None

    def forget(self):
        self.state = None

    def forward(self, x):
        self.state = self.cell(x, self.state if self.state is None else self.state.detach())
        return self.out(self.state).squeeze(1)


model = Forecast()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()
for epoch in range(3):
    model.train()
    model.forget()
    total = 0.0
    for xb, yb in train_loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    model.forget()
    test_loss = 0.0
    with torch.no_grad():
        for xb, yb in test_loader:
            test_loss += criterion(model(xb), yb).item() * len(yb)
    print(f"epoch {epoch}: {total / len(train_loader):.6f} {test_loss / len(test_loader.dataset):.6f}")
