# oracle: equal
# nproc: 1 2
# %%
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
X = torch.randn(600, 10)
y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).long()
loader = DataLoader(TensorDataset(X[:480], y[:480]), batch_size=24, shuffle=True)
test_loader = DataLoader(TensorDataset(X[480:], y[480:]), batch_size=24)

# %%
student = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 2))
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.Adam(student.parameters(), lr=0.01)
momentum = 0.95
consistency_weight = 0.1


@torch.no_grad()
def update_teacher():
    for tp, sp in zip(teacher.parameters(), student.parameters()):
        tp.mul_(momentum).add_(sp, alpha=1 - momentum)


def accuracy(net):
    net.eval()
    n = 0
    with torch.no_grad():
        for xb, yb in test_loader:
            n += (net(xb).argmax(1) == yb).sum().item()
    net.train()
    return n / len(test_loader.dataset)


# %%
for epoch in range(4):
    total = 0.0
    for xb, yb in loader:
        logits = student(xb)
        with torch.no_grad():
            soft = teacher(xb).softmax(1)
        loss = F.cross_entropy(logits, yb) + consistency_weight * F.mse_loss(logits.softmax(1), soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update_teacher()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(loader):.5f} student {accuracy(student):.4f} teacher {accuracy(teacher):.4f}")

torch.save({"student": student.state_dict(), "teacher": teacher.state_dict()}, "mean_teacher.pt")
