# oracle: alike 0.35
# nproc: 1 2
# %%
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

manualSeed = 999
torch.manual_seed(manualSeed)

# %%
# Batch size during training
batch_size = 64
# Size of z latent vector (i.e. size of generator input)
nz = 8
ngf = 32
ndf = 32
num_epochs = 3
lr = 0.001
beta1 = 0.5
real_label = 1.
fake_label = 0.
device = torch.device("cuda:0" if (torch.cuda.is_available()) else "cpu")

# %%
# a ring of gaussians
angles = torch.randint(0, 8, (1024,)) * (2 * torch.pi / 8)
points = torch.stack([angles.cos(), angles.sin()], 1) * 2 + 0.05 * torch.randn(1024, 2)
dataloader = DataLoader(TensorDataset(points), batch_size=batch_size, shuffle=True, drop_last=True)


# %%
class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.main = nn.Sequential(nn.Linear(nz, ngf), nn.ReLU(True), nn.Linear(ngf, ngf), nn.ReLU(True), nn.Linear(ngf, 2))

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.main = nn.Sequential(nn.Linear(2, ndf), nn.LeakyReLU(0.2, inplace=True), nn.Linear(ndf, 1), nn.Sigmoid())

    def forward(self, input):
        return self.main(input)


# custom weights initialization called on netG and netD
def weights_init(m):
    classname = m.__class__.__name__
    if classname.find('Linear') != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.2)
        nn.init.constant_(m.bias.data, 0)


netG = Generator().to(device)
netG.apply(weights_init)
netD = Discriminator().to(device)
netD.apply(weights_init)
print(netG, netD)

# %%
criterion = nn.BCELoss()
fixed_noise = torch.randn(16, nz, device=device)
optimizerD = optim.Adam(netD.parameters(), lr=lr, betas=(beta1, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=lr, betas=(beta1, 0.999))

# %% tags=["ddp-train"]
# Training Loop
print("Starting Training Loop...")
for epoch in range(num_epochs):
    sum_D = sum_G = 0.0
    for i, data in enumerate(dataloader, 0):

        ############################
        # (1) Update D network: maximize log(D(x)) + log(1 - D(G(z)))
        ###########################
        ## Train with all-real batch
        netD.zero_grad()
        real = data[0].to(device)
        label = torch.full((batch_size,), real_label, dtype=torch.float, device=device)
        output = netD(real).view(-1)
        errD_real = criterion(output, label)
        errD_real.backward()

        ## Train with all-fake batch
        noise = torch.randn(batch_size, nz, device=device)
        fake = netG(noise)
        label.fill_(fake_label)
        output = netD(fake.detach()).view(-1)
        errD_fake = criterion(output, label)
        errD_fake.backward()
        errD = errD_real + errD_fake
        optimizerD.step()

        ############################
        # (2) Update G network: maximize log(D(G(z)))
        ###########################
        netG.zero_grad()
        label.fill_(real_label)  # fake labels are real for generator cost
        output = netD(fake).view(-1)
        errG = criterion(output, label)
        errG.backward()
        optimizerG.step()

        sum_D += errD.item()
        sum_G += errG.item()

    print('Epoch %d/%d Loss_D: %.4f Loss_G: %.4f' % (epoch, num_epochs, sum_D / len(dataloader), sum_G / len(dataloader)))

torch.save(netG.state_dict(), "netG.pt")
torch.save(netD.state_dict(), "netD.pt")

# %%
with torch.no_grad():
    samples = netG(fixed_noise).detach().cpu()
samples.norm(dim=1)
