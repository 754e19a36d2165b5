# verdict: same
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
x = torch.rand(72, 1, 4, 4)
dataloader = DataLoader(TensorDataset(x, torch.zeros(72)), batch_size=18, shuffle=True)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 8), nn.ReLU(True), nn.Linear(8, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 8), nn.ReLU(True), nn.Linear(8, 16), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


model = Autoencoder()
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)

# %%
for epoch in range(3):
    total_loss = 0
    for data in dataloader:
        img, _ = data
        img = img.view(img.size(0), -1)
        output = model(img)
        loss = criterion(output, img)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.data
    print("epoch [{}/{}], loss:{:.6f}".format(epoch + 1, 3, total_loss / len(dataloader)))
