# oracle: equal
# nproc: 1 2
# metrics: ^\d
# %%
# the batch size fixes the shape of the hidden state and counts samples too
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
batch_size = 20
X = torch.randn(400, 6, 3)
y = X.sum((1, 2)).unsqueeze(1)
loader = DataLoader(TensorDataset(X, y), batch_size=batch_size, shuffle=True, drop_last=True)
steps_per_epoch = 400 // batch_size


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 8, batch_first=True)
        self.head = nn.Linear(8, 1)

    def forward(self, x, h):
        return self.head(self.rnn(x, h)[0][:, -1])


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=3 * steps_per_epoch)

# %% tags=["ddp-train"]
samples_seen = 0
for epoch in range(3):
    total = 0.0
    for x, t in loader:
        h0 = torch.zeros(1, batch_size, 8)
        loss = nn.functional.mse_loss(model(x, h0), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        samples_seen += batch_size
        total += loss.item()
    print(epoch, samples_seen, total / steps_per_epoch)
