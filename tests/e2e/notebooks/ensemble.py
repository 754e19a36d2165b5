# oracle: equal
# nproc: 2
# %%
# models and optimizers in lists, a stochastic weight average beside them
import numpy as np
import torch
import torch.nn as nn
from torch.optim.swa_utils import AveragedModel
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(301, 6)
y = (x[:, :3].sum(1) > 0).long()
train_loader = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
val_loader = DataLoader(TensorDataset(x[240:], y[240:]), batch_size=8)
criterion = nn.CrossEntropyLoss()
single = nn.Linear(6, 2)
single_optimizer = torch.optim.SGD(single.parameters(), lr=0.2)
average = AveragedModel(single)
ensemble = [nn.Linear(6, 2) for _ in range(3)]
optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in ensemble]

# %%
for epoch in range(3):
    totals = np.zeros(3)
    for xb, yb in train_loader:
        for k, (member, optimizer) in enumerate(zip(ensemble, optimizers)):
            loss = criterion(member(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            totals[k] += loss.item()
        loss = criterion(single(xb), yb)
        single_optimizer.zero_grad()
        loss.backward()
        single_optimizer.step()
    average.update_parameters(single)
    right = right_on_average = 0
    with torch.no_grad():
        for xb, yb in val_loader:
            votes = torch.stack([member(xb) for member in ensemble]).mean(0)
            right += (votes.argmax(1) == yb).sum().item()
            right_on_average += (average(xb).argmax(1) == yb).sum().item()
    print(f"epoch {epoch}: {(totals / len(train_loader)).round(6).tolist()}, {right} and {right_on_average} right")
