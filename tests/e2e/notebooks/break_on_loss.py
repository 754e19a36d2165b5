# oracle: equal
# nproc: 1 2
# metrics: epoch|good enough|skipped
# %%
# leaves the batch loop on the loss of one batch: every rank must leave at the same step
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(400, 4)
y = x @ torch.tensor([[1.0], [-2.0], [0.5], [3.0]])
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

# %% tags=["ddp-train"]
done = False
for epoch in range(5):
    for i, (xb, yb) in enumerate(loader):
        loss = nn.functional.mse_loss(model(xb), yb)
        if torch.isnan(loss):
            print("skipped a batch")
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < 0.02:
            print(f"good enough in epoch {epoch} at batch {i}")
            done = True
            break
    if done:
        break
    print(f"epoch {epoch} goes on")
torch.save(model.state_dict(), "line.pt")
