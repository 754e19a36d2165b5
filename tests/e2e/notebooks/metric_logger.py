# oracle: equal
# nproc: 2
# metrics: epoch|step
# %%
# meters in a dictionary that makes them, read as attributes and properties; the loops run over a generator of the logger
from collections import defaultdict, deque

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
x = torch.randn(301, 6)
y = (x[:, :3].sum(1) > 0).long() + (x[:, 3] > 0.8).long()
data_loader = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
data_loader_test = DataLoader(TensorDataset(x[240:], y[240:]), batch_size=8)


# %%
class SmoothedValue:
    def __init__(self, window=5):
        self.deque = deque(maxlen=window)
        self.total = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.deque.append(value)
        self.count += n
        self.total += value * n

    @property
    def global_avg(self):
        return self.total / self.count


class MetricLogger:
    def __init__(self):
        self.meters = defaultdict(SmoothedValue)

    def update(self, **kwargs):
        for k, v in kwargs.items():
            self.meters[k].update(v)

    def __getattr__(self, attr):
        if attr in self.meters:
            return self.meters[attr]
        raise AttributeError(attr)

    def log_every(self, iterable, print_freq):
        i = 0
        for obj in iterable:
            yield obj
            if i % print_freq == 0:
                print("step", i)
            i += 1


# %%
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)


def train_one_epoch(model, data_loader, epoch):
    model.train()
    logger = MetricLogger()
    for image, target in logger.log_every(data_loader, 5):
        loss = criterion(model(image), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logger.update(loss=loss.item())
    return logger.loss.global_avg


def evaluate(model, data_loader):
    model.eval()
    correct = SmoothedValue()
    logger = MetricLogger()
    with torch.no_grad():
        for image, target in logger.log_every(data_loader, 4):
            output = model(image)
            correct.update((output.argmax(1) == target).float().mean().item(), n=len(target))
            logger.update(loss=criterion(output, target).item())
    return correct.global_avg, logger.meters["loss"].global_avg


for epoch in range(2):
    train_loss = train_one_epoch(model, data_loader, epoch)
    accuracy, test_loss = evaluate(model, data_loader_test)
    print(f"epoch {epoch}: {train_loss:.5f} {accuracy:.5f} {test_loss:.5f}")
