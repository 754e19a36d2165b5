# verdict: alike batchnorm
# dp: alike
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
images, labels = torch.randn(72, 1, 6, 6), torch.randint(0, 3, (72,))
loader = DataLoader(TensorDataset(images, labels), batch_size=12, shuffle=True)
model = nn.Sequential(nn.Conv2d(1, 4, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

# %%
for epoch in range(2):
    model.train()
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
