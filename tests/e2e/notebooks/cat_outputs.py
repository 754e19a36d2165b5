# oracle: equal
# nproc: 1 2
# %%
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(30)

# %%
n_train, n_test, d = 400, 53, 5
X = torch.rand(n_train + n_test, d) * 2 - 1
Y = torch.stack([X[:, 0] * X[:, 1], torch.sin(3 * X[:, 2])], dim=1)
train_loader = DataLoader(TensorDataset(X[:n_train], Y[:n_train]), batch_size=20, shuffle=True)
test_loader = DataLoader(TensorDataset(X[n_train:], Y[n_train:]), batch_size=16)

model = nn.Sequential(nn.Linear(d, 40), nn.ReLU(), nn.Linear(40, 2))
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=1e-2)


# %%
def r2(pred, true):
    ss_res = ((true - pred) ** 2).sum(0)
    ss_tot = ((true - true.mean(0)) ** 2).sum(0)
    return (1 - ss_res / ss_tot).mean()


# %%
for epoch in range(4):
    model.train()
    train_loss = []
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        train_loss.append(loss.item())

    model.eval()
    all_preds, all_targets = [], []
    with torch.no_grad():
        for xb, yb in test_loader:
            all_preds.append(model(xb))
            all_targets.append(yb)
    all_preds = torch.cat(all_preds, dim=0)
    all_targets = torch.cat(all_targets, dim=0)
    median_error = (all_preds - all_targets).abs().median()
    print(f"epoch {epoch}: train {sum(train_loss) / len(train_loss):.5f} test R2 {r2(all_preds, all_targets):.5f} median {median_error:.5f} on {len(all_preds)}")

torch.save(model.state_dict(), "regression.pt")
