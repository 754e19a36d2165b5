# oracle: equal
# nproc: 1 2
# %%
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
num_epochs = 3
batch_size = 90
learning_rate = 2e-3

# %%
digits = load_digits()
x = torch.FloatTensor(digits.data) / 16
dataset = TensorDataset(x[:1440], torch.LongTensor(digits.target[:1440]))
dataloader = DataLoader(dataset, batch_size=batch_size, shuffle=True)


# %%
class autoencoder(nn.Module):
    def __init__(self):
        super(autoencoder, self).__init__()
        self.encoder = nn.Sequential(
            nn.Linear(8 * 8, 32),
            nn.ReLU(True),
            nn.Linear(32, 12))
        self.decoder = nn.Sequential(
            nn.Linear(12, 32),
            nn.ReLU(True),
            nn.Linear(32, 8 * 8), nn.Sigmoid())

    def forward(self, x):
        x = self.encoder(x)
        x = self.decoder(x)
        return x


model = autoencoder()
if torch.cuda.is_available():
    model = model.cuda()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(
    model.parameters(), lr=learning_rate, weight_decay=1e-5)

# %%
for epoch in range(num_epochs):
    total_loss = 0
    for data in dataloader:
        img, _ = data
        img = img.view(img.size(0), -1)
        img = Variable(img)
        if torch.cuda.is_available():
            img = img.cuda()
        # ===================forward=====================
        output = model(img)
        loss = criterion(output, img)
        # ===================backward====================
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss.data
    # ===================log========================
    print('epoch [{}/{}], loss:{:.6f}'
          .format(epoch + 1, num_epochs, total_loss / len(dataloader)))

torch.save(model.state_dict(), './sim_autoencoder.pth')

# %%
codes = model.encoder(x[:200]).detach()
codes.mean(0), codes.std(0)
