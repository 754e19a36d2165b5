# oracle: equal
# nproc: 1 2
# metrics: ^\d
# %%
import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

# %%
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
ngpu = torch.cuda.device_count()
torch.manual_seed(0)

model = nn.Sequential(nn.Linear(64, 40), nn.ReLU(), nn.Linear(40, 10))
if torch.cuda.device_count() > 1:
    print("Let's use", torch.cuda.device_count(), "GPUs!")
model = nn.DataParallel(model)
model.to(device)

# %%
X, y = load_digits(return_X_y=True)
X, y = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
train_loader = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=80, shuffle=True)
test_loader = DataLoader(TensorDataset(X[1440:], y[1440:]), batch_size=80)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(model.parameters(), lr=0.2, momentum=0.9)

# %%
for epoch in range(3):
    model.train()
    running_loss = 0.0
    for data, target in train_loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    model.eval()
    ok = 0
    with torch.no_grad():
        for data, target in test_loader:
            ok += (model(data.to(device)).argmax(1).cpu() == target).sum().item()
    print(f"{epoch}: {running_loss / len(train_loader):.5f} {ok / len(test_loader.dataset):.4f}")

torch.save(model.module.state_dict(), "unwrapped.pt")
