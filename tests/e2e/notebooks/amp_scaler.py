# oracle: alike 0.1
# nproc: 1 2
# %%
import torch
from torch import nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(17)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# %%
x = torch.randn(768, 32)
teacher = torch.randn(32, 4)
y = (x @ teacher).argmax(1)
train_dl = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)

# %%
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
scaler = GradScaler(device.type)

# %%
def train_epoch():
    model.train()
    total, hits = 0.0, 0
    for data, target in train_dl:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad(set_to_none=True)
        # Casts operations to mixed precision
        with autocast(device_type=device.type, dtype=torch.bfloat16):
            output = model(data)
            loss = criterion(output, target)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
        total += loss.item() * data.size(0)
        hits += (output.argmax(1) == target).sum().item()
    return total / len(train_dl.dataset), hits / len(train_dl.dataset)


# %%
for epoch in range(4):
    loss, acc = train_epoch()
    print(f"Epoch {epoch}: loss {loss:.4f}, acc {acc:.4f}")

torch.save(model.state_dict(), "amp.pt")
