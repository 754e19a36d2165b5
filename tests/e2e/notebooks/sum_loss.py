# oracle: equal
# nproc: 1 2 3
# %%
# autoencoder, loss summed over the batch as in the VAE example but without the sampling
import torch
from torch import nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader

torch.manual_seed(5)
imgs = torch.tensor(load_digits().data, dtype=torch.float32) / 16
train_loader = DataLoader(imgs[:1440], batch_size=48, shuffle=True)
test_loader = DataLoader(imgs[1440:], batch_size=48)

# %%
encoder = nn.Sequential(nn.Linear(64, 16), nn.Tanh())
decoder = nn.Sequential(nn.Linear(16, 64), nn.Sigmoid())
autoencoder = nn.Sequential(encoder, decoder)
mse = nn.MSELoss(reduction="sum")
optimizer = torch.optim.SGD(autoencoder.parameters(), lr=1e-3, momentum=0.9)

# %%
for epoch in range(3):
    train_loss = 0.0
    for batch in train_loader:
        optimizer.zero_grad()
        recon = autoencoder(batch)
        loss = mse(recon, batch)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()

    test_loss = 0.0
    with torch.no_grad():
        for batch in test_loader:
            test_loss += mse(autoencoder(batch), batch).item()
    print(f"epoch {epoch}: train {train_loss / len(train_loader.dataset):.5f}, test {test_loss / len(test_loader.dataset):.5f}")

torch.save(autoencoder.state_dict(), "autoencoder.pt")
