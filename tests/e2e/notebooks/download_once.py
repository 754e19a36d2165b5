# oracle: equal
# nproc: 1 2 3
# saves: model.pt
# %%
import os
import urllib.request

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

DATA_DIR = "data"


# %%
def fetch(path):
    # stands for urllib.request.urlretrieve(URL, path): the lab machines have no internet
    g = torch.Generator().manual_seed(0)
    x = torch.randn(600, 6, generator=g)
    y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0, -1.0])
    torch.save((x, y), path)


def download(name="measurements.pt"):
    """Download the data set unless it is there already."""
    os.makedirs(DATA_DIR, exist_ok=True)
    path = os.path.join(DATA_DIR, name)
    if not os.path.exists(path):
        print("downloading", name)
        fetch(path)
    return path


path = download()
x, y = torch.load(path)
print(x.shape, y.shape)

# %%
torch.manual_seed(1)
loader = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
loss_fn = nn.MSELoss()

# %%
for epoch in range(3):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(xb).squeeze(-1), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} mse {total / len(loader):.6f}")
torch.save(model.state_dict(), "model.pt")
