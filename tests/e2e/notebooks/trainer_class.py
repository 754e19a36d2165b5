# oracle: equal
# nproc: 1 2 3
# values: history
# %%
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SEED = 7
torch.manual_seed(SEED)
np.random.seed(SEED)


# %%
class SpiralDataset(Dataset):
    """Three interleaved spirals."""

    def __init__(self, n_per_class=200, n_classes=3, noise=0.1):
        xs, ys = [], []
        for c in range(n_classes):
            r = np.linspace(0.1, 1, n_per_class)
            t = np.linspace(c * 4, (c + 1) * 4, n_per_class) + np.random.randn(n_per_class) * noise
            xs.append(np.stack([r * np.sin(t), r * np.cos(t)], 1))
            ys.append(np.full(n_per_class, c))
        self.x = torch.tensor(np.concatenate(xs), dtype=torch.float32)
        self.y = torch.tensor(np.concatenate(ys))

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return self.x[idx], self.y[idx]


train_data = SpiralDataset(200)
valid_data = SpiralDataset(40)
train_dataloader = DataLoader(train_data, batch_size=48, shuffle=True, drop_last=True)
valid_dataloader = DataLoader(valid_data, batch_size=48, shuffle=False)


# %%
class Trainer:
    def __init__(self, model, optimizer, loss_fn, device):
        self.model = model.to(device)
        self.optimizer = optimizer
        self.loss_fn = loss_fn
        self.device = device
        self.history = {"train_loss": [], "val_loss": [], "val_acc": []}

    def train_epoch(self, dataloader):
        self.model.train()
        losses = 0.0
        for xb, yb in dataloader:
            xb, yb = xb.to(self.device), yb.to(self.device)
            pred = self.model(xb)
            loss = self.loss_fn(pred, yb)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses += loss.item()
        return losses / len(dataloader)

    @torch.no_grad()
    def validate(self, dataloader):
        self.model.eval()
        loss, correct = 0.0, 0
        for xb, yb in dataloader:
            xb, yb = xb.to(self.device), yb.to(self.device)
            pred = self.model(xb)
            loss += self.loss_fn(pred, yb).item() * len(xb)
            correct += (pred.argmax(1) == yb).sum().item()
        n = len(dataloader.dataset)
        return loss / n, correct / n

    def fit(self, train_dl, valid_dl, epochs):
        for epoch in range(epochs):
            train_loss = self.train_epoch(train_dl)
            val_loss, val_acc = self.validate(valid_dl)
            self.history["train_loss"].append(train_loss)
            self.history["val_loss"].append(val_loss)
            self.history["val_acc"].append(val_acc)
            print(f"epoch {epoch:2d} | train {train_loss:.5f} | val {val_loss:.5f} | acc {val_acc:.4f}")
        return self.history

    def save(self, path):
        torch.save(self.model.state_dict(), path)


# %%
device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))
trainer = Trainer(net, torch.optim.Adam(net.parameters(), lr=3e-2), nn.CrossEntropyLoss(), device)

# %% tags=["ddp-train"]
history = trainer.fit(train_dataloader, valid_dataloader, epochs=4)
trainer.save("spiral.pt")

# %%
import matplotlib.pyplot as plt

plt.plot(history["train_loss"], label="train")
plt.plot(history["val_loss"], label="val")
plt.legend();
