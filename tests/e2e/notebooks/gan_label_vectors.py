# oracle: equal within 1e-4
# nproc: 2
# %%
# label vectors of the batch size, made once before the training; two optimizers, two backwards before a step
import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
batch_size = 24
real_samples, latents = torch.randn(240, 6) * 0.3 + 1, torch.randn(240, 4)
loader = DataLoader(TensorDataset(real_samples, latents), batch_size, shuffle=True, drop_last=True)
G = nn.Linear(4, 6)
D = nn.Sequential(nn.Linear(6, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid())
d_optimizer = torch.optim.SGD(D.parameters(), lr=0.05)
g_optimizer = torch.optim.SGD(G.parameters(), lr=0.05)
criterion = nn.BCELoss()
real_labels = Variable(torch.ones(batch_size, 1))
fake_labels = Variable(torch.zeros(batch_size, 1))

# %%
for epoch in range(3):
    d_total = g_total = 0.0
    for i, (real, z) in enumerate(loader):
        D.zero_grad()
        d_loss_real = criterion(D(Variable(real)), real_labels)
        d_loss_real.backward()
        fake = G(Variable(z))
        d_loss_fake = criterion(D(fake.detach()), fake_labels)
        d_loss_fake.backward()
        d_optimizer.step()

        G.zero_grad()
        g_loss = criterion(D(fake), real_labels)
        g_loss.backward()
        g_optimizer.step()
        d_total += (d_loss_real + d_loss_fake).item()
        g_total += g_loss.item()
        if (i + 1) % (len(loader) // 2) == 0:
            print(f"epoch {epoch}, step {i + 1}: {d_total / (i + 1):.5f} {g_total / (i + 1):.5f}")
