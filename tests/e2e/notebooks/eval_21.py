# oracle: equal
# nproc: 1 2 3
# values: val_losses val_accs
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)

# %%
# tiny study: only 21 patients are held out
features = torch.randn(261, 12)
outcome = (features[:, :4].sum(1) + 0.3 * torch.randn(261) > 0).long()
train_ds = TensorDataset(features[:240], outcome[:240])
val_ds = TensorDataset(features[240:], outcome[240:])
print(len(train_ds), len(val_ds))

train_dl = DataLoader(train_ds, batch_size=24, shuffle=True)
val_dl = DataLoader(val_ds, batch_size=8)

# %%
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
val_losses, val_accs = [], []

# %%
for epoch in range(4):
    model.train()
    for xb, yb in train_dl:
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
        opt.zero_grad()

    model.eval()
    val_loss, correct = 0.0, 0
    with torch.no_grad():
        for xb, yb in val_dl:
            out = model(xb)
            val_loss += F.cross_entropy(out, yb).item()
            correct += (out.argmax(1) == yb).sum().item()
    val_losses.append(val_loss / len(val_dl))
    val_accs.append(correct / len(val_ds))
    print(f"epoch {epoch}  val loss {val_losses[-1]:.6f}  correct {correct}  val acc {val_accs[-1]:.6f}")

torch.save(model.state_dict(), "study.pt")
