# oracle: equal within 1e-5
# nproc: 1 2
# values: history
# saves: checkpoint.pt
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

from stopping import EarlyStopping

torch.manual_seed(5)
x = torch.randn(120, 6)
y = (x[:, :3].sum(1, keepdim=True) + 0.8 * torch.randn(120, 1))
train_loader = DataLoader(TensorDataset(x[:60], y[:60]), batch_size=12, shuffle=True)
valid_loader = DataLoader(TensorDataset(x[60:], y[60:]), batch_size=12)


# %%
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)  # left from an earlier try
        self.layer = nn.Linear(width, width)

    def forward(self, x):
        return x + torch.relu(self.layer(x))


class Net(nn.Module):
    def __init__(self, **sizes):
        super().__init__()
        self.first = nn.Linear(6, sizes["width"])
        self.blocks = nn.ModuleList([Block(sizes["width"]) for _ in range(2)])
        self.last = nn.Linear(sizes["width"], 1)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.last(x)


# %%
def fit(model, epochs, **parts):
    stopping = EarlyStopping(patience=parts["patience"])
    history = []
    for epoch in range(epochs):
        model.train()
        for a, b in parts["train"]:
            loss = criterion(model(a), b)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        total = 0.0
        with torch.no_grad():
            for a, b in parts["valid"]:
                total += criterion(model(a), b).item()
        history.append(total / len(parts["valid"]))
        print(f"epoch {epoch} validation {history[-1]:.5f}")
        stopping(history[-1], model)
        if stopping.early_stop:
            print("epoch", epoch, "stops")
            break
    model.load_state_dict(torch.load("checkpoint.pt"))
    return history


# %%
model = Net(width=16)
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
criterion = nn.MSELoss()
options = {"train": train_loader, "valid": valid_loader, "patience": 2}
history = fit(model, 20, **options)
