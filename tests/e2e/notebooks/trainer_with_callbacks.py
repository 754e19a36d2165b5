# oracle: equal
# nproc: 2
# %%
# callbacks by name, loop variables that are attributes, a flag that stops
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(301, 6)
y = (x[:, :3].sum(1) > 0).long()
train_loader = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
val_loader = DataLoader(TensorDataset(x[240:], y[240:]), batch_size=8)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()


# %%
class History:
    def __init__(self):
        self.losses = []

    def on_batch_end(self, trainer):
        self.losses.append(trainer.loss.item())

    def on_epoch_end(self, trainer):
        print(f"epoch {trainer.epoch}: {sum(self.losses) / len(self.losses):.6f}")


class StopBelow:
    def __init__(self, limit):
        self.limit = limit

    def on_batch_end(self, trainer):
        pass

    def on_epoch_end(self, trainer):
        if trainer.metrics["val"] < self.limit:
            trainer.stop = True


class Trainer:
    def __init__(self, net, opt, callbacks):
        self.net, self.opt, self.callbacks, self.stop, self.metrics = net, opt, callbacks, False, {}

    def call(self, name):
        for callback in self.callbacks:
            getattr(callback, name)(self)

    def fit(self, loader, val_loader, epochs):
        for self.epoch in range(epochs):
            for self.xb, self.yb in loader:
                self.one_batch()
            self.metrics["val"] = self.validate(val_loader)
            self.call("on_epoch_end")
            if self.stop:
                break
        return self

    def one_batch(self):
        self.loss = criterion(self.net(self.xb), self.yb)
        self.opt.zero_grad()
        self.loss.backward()
        self.opt.step()
        self.call("on_batch_end")

    @torch.no_grad()
    def validate(self, loader):
        return sum(criterion(self.net(a), b).item() * len(b) for a, b in loader) / len(loader.dataset)


trainer = Trainer(model, optimizer, [History(), StopBelow(0.55)]).fit(train_loader, val_loader, 6)
print(f"ended in epoch {trainer.epoch} with {trainer.metrics['val']:.5f}")
