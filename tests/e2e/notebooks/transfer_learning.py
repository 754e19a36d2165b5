# oracle: equal
# nproc: 1 2 3
# %%
import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


# %%
class Backbone(nn.Module):
    """Stands in for a torchvision model with pretrained weights."""

    def __init__(self, num_classes=1000):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.layer1 = nn.Sequential(nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2))
        self.fc = nn.Linear(96, num_classes)

    def forward(self, x):
        return self.fc(torch.flatten(self.layer1(self.stem(x)), 1))


def pretrained_backbone():
    torch.manual_seed(1000)
    return Backbone()


# %%
model_conv = pretrained_backbone()
for param in model_conv.parameters():
    param.requires_grad = False

# Parameters of newly constructed modules have requires_grad=True by default
num_ftrs = model_conv.fc.in_features
model_conv.fc = nn.Linear(num_ftrs, 10)
model_conv = model_conv.to(device)

criterion = nn.CrossEntropyLoss()

# Observe that only parameters of final layer are being optimized as
# opposed to before.
optimizer_conv = optim.Adam(model_conv.fc.parameters(), lr=0.02)

n_trainable = sum(p.numel() for p in model_conv.parameters() if p.requires_grad)
print(f"{n_trainable} trainable parameters")

# %%
X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
y = torch.tensor(y)
train_loader = DataLoader(TensorDataset(X[:1440], y[:1440]), batch_size=48, shuffle=True)
val_loader = DataLoader(TensorDataset(X[1440:], y[1440:]), batch_size=48)

# %%
#| ddp: train
for epoch in range(3):
    model_conv.train()
    loss_sum = 0.0
    for inputs, labels in train_loader:
        inputs = inputs.to(device)
        labels = labels.to(device)
        optimizer_conv.zero_grad()
        loss = criterion(model_conv(inputs), labels)
        loss.backward()
        optimizer_conv.step()
        loss_sum += loss.item() * inputs.size(0)

    model_conv.eval()
    corrects = 0
    with torch.no_grad():
        for inputs, labels in val_loader:
            _, preds = torch.max(model_conv(inputs.to(device)), 1)
            corrects += torch.sum(preds.cpu() == labels).item()
    print(f"epoch {epoch} loss {loss_sum / len(train_loader.dataset):.5f} val acc {corrects / len(val_loader.dataset):.4f}")

torch.save(model_conv.state_dict(), "transfer.pt")
