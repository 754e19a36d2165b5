# oracle: equal
# nproc: 2
# metrics: epoch|best
# order: 0 1 0 1 0 1 0 1
# %%
# one training function, called for each point of a grid with a new model and optimizer
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(301, 6)
y = (x[:, :3].sum(1) > 0).long()
train_loader = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
val_loader = DataLoader(TensorDataset(x[240:], y[240:]), batch_size=8)
criterion = nn.CrossEntropyLoss()


# %%
def fit(lr, hidden, epochs=2):
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(6, hidden), nn.ReLU(), nn.Linear(hidden, 2))
    opt = torch.optim.SGD(net.parameters(), lr=lr)
    losses = []
    for epoch in range(epochs):
        running = 0.0
        for xb, yb in train_loader:
            loss = criterion(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        losses.append(running / len(train_loader))
        print(f"epoch {epoch} with {lr}, {hidden}: {losses[-1]:.6f}")
    with torch.no_grad():
        right = 0
        for xb, yb in val_loader:
            right += (net(xb).argmax(1) == yb).sum().item()
    return net, losses, right / len(val_loader.dataset)


results, best, best_accuracy = {}, None, -1
for lr in [0.1, 0.5]:
    for hidden in (8, 16):
        net, losses, accuracy = fit(lr, hidden)
        results[lr, hidden] = accuracy
        if accuracy > best_accuracy:
            best, best_accuracy = net, accuracy
print(f"best {best_accuracy:.4f} of {len(results)}")
