# oracle: alike 0.4
# nproc: 1 2
# %%
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
latent_dim, n_critic, lambda_gp, batch_size = 4, 3, 10.0, 64
data = torch.randn(960, 2) * torch.tensor([1.0, 0.3]) + 2
dataloader = DataLoader(TensorDataset(data), batch_size=batch_size, shuffle=True, drop_last=True)

generator = nn.Sequential(nn.Linear(latent_dim, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).to(device)
optimizer_G = optim.Adam(generator.parameters(), lr=5e-3, betas=(0.5, 0.9))
optimizer_D = optim.Adam(critic.parameters(), lr=5e-3, betas=(0.5, 0.9))


# %%
def compute_gradient_penalty(D, real_samples, fake_samples):
    """Calculates the gradient penalty loss for WGAN GP"""
    # Random weight term for interpolation between real and fake samples
    alpha = torch.rand(real_samples.size(0), 1, device=real_samples.device)
    # Get random interpolation between real and fake samples
    interpolates = (alpha * real_samples + (1 - alpha) * fake_samples).requires_grad_(True)
    d_interpolates = D(interpolates)
    gradients = torch.autograd.grad(
        outputs=d_interpolates,
        inputs=interpolates,
        grad_outputs=torch.ones_like(d_interpolates),
        create_graph=True,
        retain_graph=True,
    )[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


# %% tags=["ddp-train"]
for epoch in range(6):
    for i, (real,) in enumerate(dataloader):
        real = real.to(device)

        # Train Discriminator
        optimizer_D.zero_grad()
        z = torch.randn(real.shape[0], latent_dim, device=device)
        fake = generator(z)
        d_loss = -critic(real).mean() + critic(fake.detach()).mean()
        d_loss = d_loss + lambda_gp * compute_gradient_penalty(critic, real, fake.detach())
        d_loss.backward()
        optimizer_D.step()

        # Train the generator every n_critic steps
        if i % n_critic == 0:
            optimizer_G.zero_grad()
            fake = generator(z)
            g_loss = -critic(fake).mean()
            g_loss.backward()
            optimizer_G.step()

    with torch.no_grad():
        center = generator(torch.randn(2000, latent_dim, device=device)).mean().item()
    print(f"[Epoch {epoch}] center of the samples {center:.2f}, of the data {data.mean():.2f}")

torch.save(generator.state_dict(), "generator.pt")
torch.save(critic.state_dict(), "critic.pt")
