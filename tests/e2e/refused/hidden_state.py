# refused: train_data|defined|no cell
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader

# %%
# (the cell that made train_data was deleted after it had run)
train_loader = DataLoader(train_data, batch_size=32, shuffle=True)

# %%
model = nn.Linear(10, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# %%
for epoch in range(3):
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
