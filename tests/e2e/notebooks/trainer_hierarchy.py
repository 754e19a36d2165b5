# oracle: equal
# nproc: 2
# %%
# a trainer derived from another: arguments passed on, a method of the class that builds it, a function without self
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 12)
y = (x @ torch.randn(12, 4)).argmax(1)
train_loader = DataLoader(TensorDataset(x[:200], y[:200]), batch_size=20, shuffle=True)
val_loader = DataLoader(TensorDataset(x[200:], y[200:]), batch_size=20)
model = nn.Linear(12, 4)
criterion = nn.CrossEntropyLoss()


# %%
class Trainer:
    def __init__(self, model, loaders):
        self.model, self.loaders, self.log = model, loaders, {name: [] for name in loaders}

    @classmethod
    def on(cls, train, val, *rest, **options):
        return cls(*rest, {"train": train, "val": val}, **options)

    @staticmethod
    def mean(total, count):
        return total / count

    def fit(self, epochs):
        for epoch in range(epochs):
            for phase in self.loaders:
                self.log[phase].append(self.run_epoch(phase))
            print(f"epoch {epoch}:", *(f"{values[-1]:.6f}" for values in self.log.values()))


class Mine(Trainer):
    def __init__(self, *args, lr=0.1, **options):
        super().__init__(*args, **options)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)

    def run_epoch(self, phase):
        total = count = 0
        for xb, yb in self.loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                loss = criterion(self.model(xb), yb)
            if phase == "train":
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            total += loss.item() * len(yb)
            count += len(yb)
        return self.mean(total, count)


# %%
trainer = Mine.on(train_loader, val_loader, model, lr=0.2)
trainer.fit(2)
