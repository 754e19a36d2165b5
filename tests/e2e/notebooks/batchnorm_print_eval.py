# oracle: equal 1, alike 0.25
# nproc: 1 2
# metrics: ^epoch|^test
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def get_device():
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("cpu")


device = get_device()
torch.manual_seed(1234)

# %%
images, labels = load_digits(return_X_y=True)
images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16
labels = torch.tensor(labels, dtype=torch.long)
train_loader = DataLoader(TensorDataset(images[:1440], labels[:1440]), batch_size=60, shuffle=True)
test_loader = DataLoader(TensorDataset(images[1440:], labels[1440:]), batch_size=100)


# %%
def conv_block(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1, bias=False), nn.BatchNorm2d(c_out), nn.ReLU(), nn.MaxPool2d(2))


class SmallConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(conv_block(1, 8), conv_block(8, 16))
        self.head = nn.Linear(16 * 2 * 2, 10)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


model = SmallConvNet().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


# %%
def evaluate(model, loader):
    model.eval()
    correct = 0
    for x, y in loader:
        with torch.no_grad():
            correct += (model(x.to(device)).argmax(1) == y.to(device)).sum().item()
    return correct / len(loader.dataset)


print("before training, accuracy:", evaluate(model, test_loader))

# %%
for epoch in range(3):
    model.train()
    losses = []
    for x, y in train_loader:
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print("epoch", epoch, "loss", sum(losses) / len(losses), "accuracy", evaluate(model, test_loader))

print("test accuracy:", evaluate(model, test_loader))
torch.save(model.state_dict(), "convnet.pt")
