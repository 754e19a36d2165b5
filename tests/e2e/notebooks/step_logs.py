# oracle: equal
# values: train_losses rows seen history log
# %%
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

# %%
torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.data / 16, dtype=torch.float32)
y = torch.tensor(digits.target)
loader = DataLoader(TensorDataset(X[:960], y[:960]), batch_size=96)
model = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)


# %%
class Record:
    def __init__(self):
        self.losses = []
        self.curves = {"accuracy": []}


record = Record()
train_losses, rows, history, seen = [], [], {"train": {"loss": []}}, {"right": 0, "all": 0}
log, kept = [], []


def tell():
    print(len(kept), "steps", sum(kept), "right")


def train(epoch, losses):
    for step, (x, t) in enumerate(loader):
        output = model(x)
        loss = F.cross_entropy(output, t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        right = (output.argmax(1) == t).sum().item()
        losses.append(loss.item())
        train_losses.append(loss.item())
        history["train"]["loss"].append(loss.item())
        rows.append((epoch, step, right))
        record.losses.append(loss.item())
        record.curves["accuracy"].append(right)
        seen["right"] += right
        seen["all"] += len(x)
        row = {"epoch": epoch, "loss": round(loss.item(), 4), "right": right}
        log.append(row)
        kept.append(right)
        if step % 5 == 0:
            print(row)
            tell()


# %%
for epoch in range(3):
    losses = []
    train(epoch, losses)
    print(f"epoch {epoch}: {sum(losses) / len(losses):.4f}")
    tell()
print([round(n, 4) for n in train_losses], history["train"]["loss"][-1], rows)
print([round(n, 4) for n in record.losses], record.curves, seen, log[-1])
