# oracle: equal
# nproc: 1 2
# metrics: epoch|stopped
# values: history
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from tqdm.notebook import tqdm, trange

torch.manual_seed(0)
x = torch.rand(480, 2)
y = ((x - 0.5).norm(dim=1) < 0.35).float()
train_loader = DataLoader(TensorDataset(x[:384], y[:384]), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(x[384:], y[384:]), batch_size=96)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Flatten(0))
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
criterion = nn.BCEWithLogitsLoss()
history = []

# %%
from tqdm import tqdm, trange  # no widgets here

try:
    for epoch in trange(5, desc="epochs"):
        with tqdm(total=len(train_loader), leave=False) as pbar:
            running = 0.0
            for xb, yb in train_loader:
                optimizer.zero_grad()
                loss = criterion(model(xb), yb)
                loss.backward()
                optimizer.step()
                running += loss.item()
                pbar.update(1)
        with torch.no_grad():
            acc = sum(((model(xb) > 0) == (yb > 0.5)).sum().item() for xb, yb in val_loader) / 96
        history.append((running / len(train_loader), acc))
        print(f"epoch {epoch}: {history[-1][0]:.5f} {acc:.4f}")
except KeyboardInterrupt:
    print("stopped by hand")
finally:
    torch.save(model.state_dict(), "disc.pt")
