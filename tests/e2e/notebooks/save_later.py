# oracle: equal
# nproc: 1 2
# saves: nothing
# values: history
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(360, 10)
Y = X @ torch.randn(10, 3)
dl = DataLoader(TensorDataset(X, Y), batch_size=36, shuffle=True)
model = nn.Linear(10, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
history = {"loss": [], "lr": []}

# %% tags=["ddp-train"]
for epoch in range(3):
    total = 0.0
    for xb, yb in dl:
        loss = nn.functional.mse_loss(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    history["loss"].append(total / len(dl))
    history["lr"].append(opt.param_groups[0]["lr"])
    print(f"epoch {epoch}: {history['loss'][-1]:.6f}")

# %%
# saving is a cell of its own
torch.save(model.state_dict(), "linear.pt")
