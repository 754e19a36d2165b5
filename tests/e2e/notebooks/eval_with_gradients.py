# oracle: equal
# nproc: 1 2
# values: accuracy
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
x = torch.randn(24, 5)
y = (x.sum(1) > 0).long()
train_loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)

# %%
model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)


# %%
def compute_accuracy(model, loader):
    correct, total = 0, 0
    for features, targets in loader:
        predicted = model(features).argmax(1)
        total += targets.size(0)
        correct += (predicted == targets).sum()
    return correct.float() / total * 100


# %%
# one step an epoch, and an evaluation that nobody told to forget the gradients
for epoch in range(3):
    model.train()
    for features, targets in train_loader:
        loss = F.cross_entropy(model(features), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    accuracy = compute_accuracy(model, train_loader)
    print("epoch %d accuracy %.2f%%" % (epoch, accuracy))
