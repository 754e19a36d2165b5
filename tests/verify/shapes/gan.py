# verdict: alike draws
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
batch_size = 12
nz = 4
angles = torch.rand(72) * 6.28
points = torch.stack([angles.cos(), angles.sin()], 1)
dataloader = DataLoader(TensorDataset(points), batch_size=batch_size, shuffle=True, drop_last=True)


# %%
class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.draw = nn.Sequential(nn.Linear(nz, 16), nn.ReLU(True), nn.Linear(16, 2))

    def forward(self, z):
        return self.draw(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.judge = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, x):
        return self.judge(x).view(-1)


netG, netD = Generator(), Critic()
criterion = nn.BCELoss()
optimizerD = torch.optim.SGD(netD.parameters(), lr=0.05)
optimizerG = torch.optim.SGD(netG.parameters(), lr=0.05)

# %% tags=["ddp-train"]
for epoch in range(2):
    for i, (real,) in enumerate(dataloader):
        netD.zero_grad()
        label = torch.full((batch_size,), 1.0)
        errD_real = criterion(netD(real), label)
        errD_real.backward()
        fake = netG(torch.randn(batch_size, nz))
        label.fill_(0.0)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        optimizerD.step()

        netG.zero_grad()
        label.fill_(1.0)
        errG = criterion(netD(fake), label)
        errG.backward()
        optimizerG.step()
