# oracle: equal
# nproc: 2
# %%
# the module owns its optimizer, its loss and its counters, and trains itself
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(301, 6)
y = (x[:, :3].sum(1) > 0).long()
train_loader = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
test_loader = DataLoader(TensorDataset(x[240:], y[240:]), batch_size=20)


# %%
class Classifier(nn.Module):
    def __init__(self, lr=0.05):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
        self.loss_function = nn.CrossEntropyLoss()
        self.optimiser = torch.optim.SGD(self.parameters(), lr=lr, momentum=0.9)
        self.counter = 0

    def forward(self, inputs):
        return self.layers(inputs)

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            total = 0.0
            for inputs, targets in loader:
                total += self.training_step(inputs, targets)
            print(f"epoch {epoch}: {total / len(loader):.6f} after {self.counter} steps")

    def training_step(self, inputs, targets):
        loss = self.loss_function(self.forward(inputs), targets)
        self.counter += 1
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        return loss.item()


net = Classifier()
net.fit(train_loader, 3)
with torch.no_grad():
    right = sum((net(a).argmax(1) == b).sum().item() for a, b in test_loader)
print(f"epoch 3: {right} of {len(test_loader.dataset)}")
