# oracle: equal
# nproc: 2
# order: 0 1 0 1 0 1 0 0
# %%
# the head first, then all of it: a function frees the body between two trainings; the model before taught, and rests
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(12, 32)
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))


torch.manual_seed(0)
x = torch.randn(240, 12)
y = (x @ torch.randn(12, 4)).argmax(1)
seed = 1; train_loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True, drop_last=True)
teacher, model = Net(), Net()
of_teacher = torch.optim.SGD(teacher.parameters(), lr=0.2)
for p in model.body.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)


def free(part):
    for p in part.parameters():
        p.requires_grad_(True)


def fit(epochs, name):
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in train_loader:
            scores = model(xb)
            with torch.no_grad():
                soft = teacher(xb).softmax(1)
            loss = F.cross_entropy(scores, yb) + F.mse_loss(scores.softmax(1), soft)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"{name} epoch {epoch}: {total / len(train_loader):.6f}")


# %%
for epoch in range(2):
    for xb, yb in train_loader:
        of_teacher.zero_grad()
        F.cross_entropy(teacher(xb), yb).backward()
        of_teacher.step()
for p in teacher.parameters():
    p.requires_grad = False
fit(2, "head")
free(model.body)
fit(2, "all")
for part in (model.head, model.body):
    model.requires_grad_(False)
    part.requires_grad_(True)
    fit(1, "part")
