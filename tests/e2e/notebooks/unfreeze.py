# oracle: equal
# nproc: 1 2
# %%
# fine-tuning in two stages: head first, everything from epoch 2 on
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)
X = torch.randn(520, 10)
Y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).long()
train_dl = DataLoader(TensorDataset(X[:400], Y[:400]), batch_size=20, shuffle=True)
val_dl = DataLoader(TensorDataset(X[400:], Y[400:]), batch_size=20)

# %%
body = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
model = nn.Sequential(body, nn.Linear(24, 2))
for p in body.parameters():
    p.requires_grad = False
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

# %%
for epoch in range(4):
    if epoch == 2:
        print("unfreezing the body")
        for p in body.parameters():
            p.requires_grad = True
        for g in optimizer.param_groups:
            g["lr"] = 0.003

    train_loss = 0.0
    for x, y in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()

    with torch.no_grad():
        val_acc = sum((model(x).argmax(1) == y).sum().item() for x, y in val_dl) / len(val_dl.dataset)
    print(f"epoch {epoch} loss {train_loss / len(train_dl):.5f} val {val_acc:.4f}")

torch.save(model.state_dict(), "finetuned.pt")
