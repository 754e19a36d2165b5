# oracle: equal
# nproc: 1 2
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
inputs = torch.randn(450, 8)
outputs = (inputs[:, 0] > inputs[:, 1]).long()


def make_loader(split, shuffle):
    lo, hi = (0, 360) if split == "train" else (360, 450)
    return DataLoader(TensorDataset(inputs[lo:hi], outputs[lo:hi]), batch_size=30, shuffle=shuffle, drop_last=shuffle)


train_loader = make_loader("train", shuffle=True)
test_loader = make_loader("test", shuffle=False)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.NAdam(model.parameters(), lr=0.01)

# %%
for epoch in range(3):
    seen = 0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        seen += len(y)
    with torch.no_grad():
        wrong = sum((model(x).argmax(1) != y).sum().item() for x, y in test_loader)
    print(f"epoch {epoch}: {seen} samples, {wrong} wrong")
torch.save(model.state_dict(), "compare.pt")
