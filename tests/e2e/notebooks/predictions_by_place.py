# oracle: equal
# nproc: 2
# values: predictions
# %%
# predictions are laid into arrays by their place, into a dictionary by their name, and into a table
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(5)
x = torch.randn(301, 6)
y = (x[:, :3].sum(1) > 0).long()


class Named(Dataset):
    def __len__(self):
        return 61

    def __getitem__(self, i):
        return x[240 + i], f"sample_{i}"


train_loader = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
valid_loader = DataLoader(TensorDataset(x[240:], y[240:]), batch_size=8)
test_loader = DataLoader(Named(), batch_size=8)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)

# %%
for epoch in range(2):
    for xb, yb in train_loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    predictions = np.zeros((61, 2))
    with torch.no_grad():
        for i, (xb, yb) in enumerate(valid_loader):
            predictions[i * 8:(i + 1) * 8] = model(xb).numpy()
    answers, rows, start = {}, [], 0
    everything = torch.zeros(61)
    with torch.no_grad():
        for xb, names in test_loader:
            found = model(xb).argmax(1)
            everything[start:start + len(xb)] = found.float()
            start += len(xb)
            for name, answer in zip(names, found):
                answers[name] = answer.item()
            rows += [[name, answer] for name, answer in zip(names, found.tolist())]
    print(f"epoch {epoch}: {(predictions.argmax(1) == y[240:].numpy()).mean():.4f}, {everything.sum().item():.0f} ones, "
          f"{len(answers)} answers, {sum(answers.values())} of them one, the last {rows[-1]} of {len(rows)}")
