# oracle: alike 0.3
# nproc: 1 2
# %%
# denoising diffusion on two moons, 40 steps
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_moons
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
T = 40
BATCH_SIZE = 120

betas = torch.linspace(1e-3, 0.2, T).to(device)
alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)

points, _ = make_moons(1200, noise=0.05, random_state=0)
dataloader = DataLoader(TensorDataset(torch.tensor(points, dtype=torch.float32)), batch_size=BATCH_SIZE, shuffle=True, drop_last=True)


def q_sample(x0, t, noise):
    a = alphas_cumprod[t].view(-1, 1)
    return a.sqrt() * x0 + (1 - a).sqrt() * noise


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(T, 16)
        self.net = nn.Sequential(nn.Linear(18, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


model = Denoiser().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)


def get_loss(model, x_0, t):
    noise = torch.randn_like(x_0)
    x_noisy = q_sample(x_0, t, noise)
    noise_pred = model(x_noisy, t)
    return F.mse_loss(noise, noise_pred)


# %%
epochs = 6
for epoch in range(epochs):
    epoch_loss = 0.0
    for step, batch in enumerate(dataloader):
        optimizer.zero_grad()
        t = torch.randint(0, T, (BATCH_SIZE,), device=device).long()
        loss = get_loss(model, batch[0].to(device), t)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()
    print(f"Epoch {epoch} | Loss: {epoch_loss / len(dataloader):.4f}")

torch.save(model.state_dict(), "ddpm.pt")
