# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)); opt = torch.optim.Adam(model.parameters(), 1e-2)
x_u = torch.rand(7, 1); u = torch.sin(x_u)
x_f = torch.linspace(0, 1, 50).view(-1, 1).requires_grad_(True)
# %%
for it in range(30):
    opt.zero_grad()
    mse_u = ((model(x_u) - u) ** 2).mean()
    out = model(x_f)
    du = torch.autograd.grad(out, x_f, torch.ones_like(out), create_graph=True)[0]
    mse_f = ((du + out) ** 2).mean()
    loss = mse_u + mse_f
    loss.backward()
    opt.step()
    if it % 10 == 0: print(it, f"{loss.item():.4f}")
