# oracle: equal
# nproc: 1 2
# %%
# a file read line by line: an IterableDataset over a sequence that is the same on every reading
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset

torch.manual_seed(0)
rows = torch.randn(480, 4)
with open("rows.txt", "w") as f:
    for row in rows.tolist():
        f.write(" ".join(f"{v:.5f}" for v in row) + "\n")


class Lines(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with open(self.path) as f:
            for line in f:
                *x, y = map(float, line.split())
                yield torch.tensor(x), torch.tensor([0.2 * y + sum(x)])


loader = DataLoader(Lines("rows.txt"), batch_size=24)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# %%
for epoch in range(3):
    total, n = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
        n += len(x)
    print(f"epoch {epoch}: {total / n:.4f}")
torch.save(model.state_dict(), "lines.pt")
