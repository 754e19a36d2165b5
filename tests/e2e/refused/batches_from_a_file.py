# refused: loader
# %%
import pickle

import torch
import torch.nn as nn

torch.manual_seed(0)
with open("batches.pkl", "rb") as file:
    train_batches = pickle.load(file)

# %%
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()
history = []

# %%
for epoch in range(5):
    total = 0.0
    for x, y in train_batches:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    history.append(total)
    print(epoch, total)

# %%
print(history)
