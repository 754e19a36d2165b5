# %%
import torch
from accelerate import Accelerator, notebook_launcher
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

# %%
x = torch.randn(240, 8, generator=torch.Generator().manual_seed(0))
y = x.sum(1, keepdim=True)


def training_loop(lr, epochs):
    accelerator = Accelerator()
    torch.manual_seed(0)
    loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, epochs * len(loader))
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    for epoch in range(epochs):
        total = 0.0
        for inputs, targets in loader:
            loss = nn.functional.mse_loss(model(inputs), targets)
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            total += accelerator.reduce(loss.detach(), "mean").item()
        accelerator.print(f"epoch {epoch}: {total / len(loader):.5f}, rate {scheduler.get_last_lr()[0]:.4f}")
    accelerator.save_model(model, "model")


# %%
notebook_launcher(training_loop, args=(0.05, 3), num_processes=2)
