# oracle: equal
# nproc: 1 2
# %%
# Same toy GAN, but with one fixed latent per real sample, so that runs can be compared
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
latent_dim = 6
real = torch.randn(480, 2) * 0.3 + torch.tensor([1.0, -1.0])
latents = torch.randn(480, latent_dim)
loader = DataLoader(TensorDataset(real, latents), batch_size=48, shuffle=True)

# %%
generator = nn.Sequential(nn.Linear(latent_dim, 32), nn.ReLU(), nn.Linear(32, 2))
discriminator = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1))
adversarial_loss = nn.BCEWithLogitsLoss()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=0.002, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=0.002, betas=(0.5, 0.999))

# %%
for epoch in range(3):
    g_total, d_total = 0.0, 0.0
    for x, z in loader:
        valid = torch.ones(x.size(0), 1)
        fake = torch.zeros(x.size(0), 1)

        # -- generator
        optimizer_G.zero_grad()
        gen = generator(z)
        g_loss = adversarial_loss(discriminator(gen), valid)
        g_loss.backward()
        optimizer_G.step()

        # -- discriminator, one backward for both halves
        optimizer_D.zero_grad()
        real_loss = adversarial_loss(discriminator(x), valid)
        fake_loss = adversarial_loss(discriminator(gen.detach()), fake)
        d_loss = (real_loss + fake_loss) / 2
        d_loss.backward()
        optimizer_D.step()

        g_total += g_loss.item()
        d_total += d_loss.item()
    print(f"[Epoch {epoch}] [D loss: {d_total / len(loader):.6f}] [G loss: {g_total / len(loader):.6f}]")

torch.save({"generator": generator.state_dict(), "discriminator": discriminator.state_dict()}, "gan.pt")
