# oracle: equal
# nproc: 1 2 3
# values: best_val_loss
# metrics: Epoch|Early
# %%
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

# %%
torch.manual_seed(5)
X = torch.rand(420, 1) * 6 - 3
Y = torch.sin(X) + 0.3 * torch.randn_like(X)
train_loader = DataLoader(TensorDataset(X[:300], Y[:300]), batch_size=30, shuffle=True)
val_loader = DataLoader(TensorDataset(X[300:], Y[300:]), batch_size=40)


# %%
class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x)


device = "cuda" if torch.cuda.is_available() else "cpu"
model = Regressor().to(device)
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=0.03)

# %%
#| ddp: train
n_epochs = 40
patience = 3
best_val_loss = float("inf")
epochs_no_improve = 0

for epoch in range(n_epochs):
    model.train()
    train_loss = 0.0
    for xb, yb in train_loader:
        xb, yb = xb.to(device), yb.to(device)
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * xb.size(0)
    train_loss /= len(train_loader.dataset)

    model.eval()
    val_loss = 0.0
    with torch.no_grad():
        for xb, yb in val_loader:
            xb, yb = xb.to(device), yb.to(device)
            val_loss += criterion(model(xb), yb).item() * xb.size(0)
    val_loss /= len(val_loader.dataset)
    print(f"Epoch {epoch + 1}: train {train_loss:.5f}, val {val_loss:.5f}")

    if val_loss < best_val_loss:
        best_val_loss = val_loss
        epochs_no_improve = 0
        torch.save(model.state_dict(), "best.pt")
    else:
        epochs_no_improve += 1
        if epochs_no_improve >= patience:
            print(f"Early stopping at epoch {epoch + 1}")
            break

model.load_state_dict(torch.load("best.pt"))

# %%
import matplotlib.pyplot as plt

xs = torch.linspace(-3, 3, 100).unsqueeze(1)
with torch.no_grad():
    plt.plot(xs, model(xs.to(device)).cpu())
plt.scatter(X, Y, s=2)
plt.show()
