# oracle: equal
# nproc: 1 2 3
# values: epoch
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
X = torch.randn(432, 4)
y = (X.sum(dim=1) > 0).float()
train_iter = DataLoader(TensorDataset(X[:360], y[:360]), batch_size=24, shuffle=True)
test_iter = DataLoader(TensorDataset(X[360:], y[360:]), batch_size=24)

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1), nn.Flatten(0))
optimizer = torch.optim.SGD(net.parameters(), lr=0.04)
bce = nn.BCEWithLogitsLoss()

# %%
# train until it is good enough
target_accuracy = 0.95
max_epochs = 12
epoch = 0
accuracy = 0.0
while accuracy < target_accuracy and epoch < max_epochs:
    epoch_loss = 0.0
    for xb, yb in train_iter:
        optimizer.zero_grad()
        loss = bce(net(xb), yb)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item()

    with torch.no_grad():
        n_right = 0
        for xb, yb in test_iter:
            n_right += ((net(xb) > 0) == yb.bool()).sum().item()
    accuracy = n_right / len(test_iter.dataset)
    epoch += 1
    print(f"epoch {epoch}: loss {epoch_loss / len(train_iter):.5f}, accuracy {accuracy:.4f}")

torch.save(net.state_dict(), "good_enough.pt")
