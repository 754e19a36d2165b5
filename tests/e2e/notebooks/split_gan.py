# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
data = torch.randn(300, 2) * 0.5 + 2
G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
og = torch.optim.Adam(G.parameters(), lr=1e-3); od = torch.optim.Adam(D.parameters(), lr=1e-3)
bce = nn.BCELoss(); bs = 50
# %%
for step in range(40):
    real = data[torch.randint(0, len(data), (bs,))]
    z = torch.randn(bs, 4)
    fake = G(z)
    d_loss = bce(D(real), torch.ones(bs, 1)) + bce(D(fake.detach()), torch.zeros(bs, 1))
    od.zero_grad(); d_loss.backward(); od.step()
    g_loss = bce(D(fake), torch.ones(bs, 1))
    og.zero_grad(); g_loss.backward(); og.step()
    if step % 10 == 0:
        print(step, d_loss.item(), g_loss.item())
