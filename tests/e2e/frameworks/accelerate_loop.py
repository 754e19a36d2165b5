# %%
import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# %%
torch.manual_seed(0)
x = torch.randn(260, 8)
y = x @ torch.randn(8, 1)
train_loader = DataLoader(TensorDataset(x[:200], y[:200]), batch_size=20, shuffle=True)
val_loader = DataLoader(TensorDataset(x[200:], y[200:]), batch_size=20)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# %%
accelerator = Accelerator()
model, optimizer, train_loader, val_loader = accelerator.prepare(model, optimizer, train_loader, val_loader)
for epoch in range(3):
    model.train()
    for inputs, targets in train_loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    errors = []
    for inputs, targets in val_loader:
        with torch.no_grad():
            predictions = model(inputs)
        predictions, targets = accelerator.gather_for_metrics((predictions, targets))
        errors.append((predictions - targets).pow(2).mean().item())
    accelerator.print(f"epoch {epoch}: {sum(errors) / len(errors):.5f}")
accelerator.save_state("state")
