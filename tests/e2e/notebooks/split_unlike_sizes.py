# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)); opt = torch.optim.Adam(model.parameters(), 1e-2)
x = torch.linspace(0, 1, 200).view(-1, 1)
t, u = x[0:80:11], torch.sin(6 * x[0:80:11])
points = torch.linspace(0, 1, 30).view(-1, 1).requires_grad_(True)
# %%
for it in range(30):
    opt.zero_grad()
    out = model(t)
    measured = torch.mean((out - u) ** 2)
    curve = model(points)
    slope = torch.autograd.grad(curve, points, torch.ones_like(curve), create_graph=True)[0]
    loss = measured + 0.01 * torch.mean((slope + curve) ** 2)
    loss.backward()
    opt.step()
    if it % 10 == 0:
        out = model(x).detach()
        print(it, f"{loss.item():.4f} {out.mean():.4f}")
