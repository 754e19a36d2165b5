# oracle: equal within 1e-5
# nproc: 1 2 3
# metrics: .
# %%
import torch; torch.manual_seed(0)
import torch.nn as nn
from torch.optim import Adam
# %%
class GAN(nn.Module):
    def __init__(self, size_hidden, latent_size):
        super().__init__()
        self.latent_size = latent_size
        self.generator = nn.Sequential(nn.Linear(latent_size, size_hidden), nn.ReLU(True), nn.Linear(size_hidden, 2))
        self.discriminator = nn.Sequential(nn.Linear(2, size_hidden), nn.ReLU(True), nn.Linear(size_hidden, 1), nn.Sigmoid())
    def fit(self, x, max_iter):
        loss_d, loss_g = [], []
        criterion = nn.BCELoss()
        optimizerD = Adam(self.discriminator.parameters(), lr=5e-4)
        optimizerG = Adam(self.generator.parameters(), lr=5e-4)
        for it in range(max_iter):
            self.discriminator.zero_grad()
            label = torch.full((x.shape[0], 1), 1., dtype=torch.float, device=x.device)
            output = self.discriminator(x)
            errD_real = criterion(output, label)
            errD_real.backward()
            noise = torch.randn(x.shape[0], self.latent_size, device=x.device)
            fake = self.generator(noise)
            label = label.fill_(0.)
            output = self.discriminator(fake.detach())
            errD_fake = criterion(output, label)
            errD_fake.backward()
            errD = errD_real + errD_fake
            optimizerD.step()
            loss_d.append(errD.item())
            self.generator.zero_grad()
            label = label.fill_(1.)
            output = self.discriminator(fake)
            errG = criterion(output, label)
            errG.backward()
            optimizerG.step()
            loss_g.append(errG.item())
        return loss_g, loss_d
# %%
x = torch.randn(2000, 2) + 1
# %%
gan = GAN(128, 2)
loss_g, loss_d = gan.fit(x, 10)
print(loss_g[-1], loss_d[-1])
