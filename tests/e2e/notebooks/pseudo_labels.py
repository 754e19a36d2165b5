# oracle: equal
# nproc: 2
# loaders: rebuilt
# %%
# the data set grows by what the model is sure of
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 6)
y = (x[:, :3].sum(1) > 0).long()
unlabelled = DataLoader(TensorDataset(x[240:]), batch_size=10)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)

# %%
train_x, train_y = x[:240], y[:240]
for epoch in range(3):
    loader = DataLoader(TensorDataset(train_x, train_y), batch_size=24, shuffle=False, drop_last=True)
    for xb, yb in loader:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    picked, labels = [], []
    with torch.no_grad():
        for (xb,) in unlabelled:
            sure, label = F.softmax(model(xb), 1).max(1)
            picked.append(xb[sure > 0.7])
            labels.append(label[sure > 0.7])
    train_x, train_y = torch.cat([x[:240], *picked]), torch.cat([y[:240], *labels])
    print(f"epoch {epoch}: {len(train_x)} samples, {train_y.sum().item()} of the second class")
