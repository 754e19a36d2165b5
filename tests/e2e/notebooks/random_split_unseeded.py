# oracle: equal
# nproc: 1 2
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split
from sklearn.datasets import load_wine

# %%
wine = load_wine()
inputs = torch.tensor(wine.data, dtype=torch.float32)
inputs = (inputs - inputs.mean(0)) / inputs.std(0)
labels = torch.tensor(wine.target)
full_dataset = TensorDataset(inputs, labels)

# 80/20 split
val_size = 34
train_size = len(full_dataset) - val_size
train_dataset, val_dataset = random_split(full_dataset, [train_size, val_size])
print(f"{len(train_dataset)=} {len(val_dataset)=}")

train_loader = DataLoader(train_dataset, batch_size=16, shuffle=True)
val_loader = DataLoader(val_dataset, batch_size=16)

# %%
model = nn.Sequential(nn.Linear(13, 20), nn.ReLU(), nn.Linear(20, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

# %%
for epoch in range(3):
    model.train()
    train_loss = 0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * len(y)

    model.eval()
    val_loss, val_correct = 0, 0
    with torch.no_grad():
        for x, y in val_loader:
            out = model(x)
            val_loss += criterion(out, y).item() * len(y)
            val_correct += (out.argmax(dim=1) == y).float().sum().item()

    print(f"Epoch {epoch+1} | train loss {train_loss / train_size:.4f} | val loss {val_loss / val_size:.4f} | val acc {val_correct / val_size:.4f}")

torch.save(model.state_dict(), 'wine.pt')
