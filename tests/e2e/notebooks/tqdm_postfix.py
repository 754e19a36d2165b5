# oracle: equal
# nproc: 1 2
# metrics: ^Epoch
# %%
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset
from tqdm.auto import tqdm

torch.manual_seed(123)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

# %%
digits = load_digits()
X = torch.tensor(digits.data, dtype=torch.float32).div_(16)
y = torch.tensor(digits.target)
train_loader = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=60, shuffle=True)
val_loader = DataLoader(TensorDataset(X[1440:], y[1440:]), batch_size=60)

model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

# %%
num_epochs = 3
for epoch in range(num_epochs):
    model.train()
    train_loss = 0.0
    loop = tqdm(enumerate(train_loader), total=len(train_loader), leave=False)
    for batch_idx, (data, targets) in loop:
        data, targets = data.to(device), targets.to(device)
        scores = model(data)
        loss = criterion(scores, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_loss += loss.item()

        # update progress bar
        loop.set_description(f"Epoch [{epoch + 1}/{num_epochs}]")
        loop.set_postfix(loss=loss.item(), acc=(scores.argmax(1) == targets).float().mean().item())

    model.eval()
    val_correct = 0
    with torch.no_grad():
        for data, targets in tqdm(val_loader, desc="validation", leave=False):
            scores = model(data.to(device))
            val_correct += (scores.argmax(1).cpu() == targets).sum().item()
    tqdm.write(f"Epoch {epoch + 1}: train loss {train_loss / len(train_loader):.5f} val acc {val_correct / len(val_loader.dataset):.4f}")

torch.save(model.state_dict(), "tqdm.pt")
