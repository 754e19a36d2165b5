# verdict: same
# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3)
        self.fc1 = nn.Linear(36, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        return F.log_softmax(self.fc1(torch.flatten(x, 1)), dim=1)


def train(model, device, train_loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()


def test(model, device, test_loader):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            correct += output.argmax(dim=1, keepdim=True).eq(target.view(-1, 1)).sum().item()
    n = len(test_loader.dataset)
    print(f"Test set: average loss {test_loss / n:.5f}, accuracy {correct}/{n}")


# %%
torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
images, targets = torch.randn(89, 1, 8, 8), torch.randint(0, 5, (89,))
train_loader = DataLoader(TensorDataset(images[:72], targets[:72]), batch_size=12, shuffle=True)
test_loader = DataLoader(TensorDataset(images[72:], targets[72:]), batch_size=6)
model = Net().to(device)
optimizer = torch.optim.Adadelta(model.parameters(), lr=0.5)
scheduler = StepLR(optimizer, step_size=1, gamma=0.7)

# %%
for epoch in range(2):
    train(model, device, train_loader, optimizer, epoch)
    test(model, device, test_loader)
    scheduler.step()
