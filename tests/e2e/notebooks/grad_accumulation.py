# oracle: equal
# nproc: 1 2 3
# %%
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"

# %%
micro_batch_size = 24
accumulation_steps = 4  # effective batch 96
max_norm = 1.0
epochs = 3

# %%
X, Y = load_digits(return_X_y=True)
X = torch.as_tensor(X, dtype=torch.float32) / 16
Y = torch.as_tensor(Y)
train_loader = DataLoader(TensorDataset(X[:1440], Y[:1440]), batch_size=micro_batch_size, shuffle=True)
test_loader = DataLoader(TensorDataset(X[1440:], Y[1440:]), batch_size=micro_batch_size)

model = nn.Sequential(nn.Linear(64, 48), nn.GELU(), nn.Linear(48, 10)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

# %% tags=["ddp-train"]
for epoch in range(epochs):
    model.train()
    running = 0.0
    optimizer.zero_grad()
    for step, (xb, yb) in enumerate(train_loader):
        xb, yb = xb.to(device), yb.to(device)
        loss = criterion(model(xb), yb)
        loss = loss / accumulation_steps  # Normalize our loss (if averaged)
        loss.backward()
        running += loss.item() * accumulation_steps
        if (step + 1) % accumulation_steps == 0 or step + 1 == len(train_loader):
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            optimizer.step()
            optimizer.zero_grad()

    model.eval()
    n_right = 0
    with torch.no_grad():
        for xb, yb in test_loader:
            n_right += (model(xb.to(device)).argmax(-1).cpu() == yb).sum().item()
    print(f"epoch {epoch} loss {running / len(train_loader):.6f} test acc {n_right / len(test_loader.dataset):.4f}")

torch.save(model.state_dict(), "accumulated.pt")
