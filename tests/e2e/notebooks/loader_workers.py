# oracle: equal
# nproc: 2
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sines(Dataset):
    def __init__(self, n, seed):
        self.phase = torch.rand(n, generator=torch.Generator().manual_seed(seed)) * 6.283

    def __len__(self):
        return len(self.phase)

    def __getitem__(self, i):
        t = torch.linspace(0, 6.283, 24)
        return torch.sin(t + self.phase[i]), self.phase[i].cos()


# %%
loader_args = dict(batch_size=32, num_workers=2, persistent_workers=True, pin_memory=torch.cuda.is_available())
train_loader = DataLoader(Sines(384, 0), shuffle=True, **loader_args)
test_loader = DataLoader(Sines(64, 1), shuffle=False, **loader_args)

# %%
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    train_loss = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
    with torch.no_grad():
        test_loss = sum(nn.functional.mse_loss(model(x), y, reduction="sum").item() for x, y in test_loader) / 64
    print(f"epoch {epoch}: {train_loss / len(train_loader):.6f} {test_loss:.6f}")
torch.save(model.state_dict(), "phase.pt")
