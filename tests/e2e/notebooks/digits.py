# oracle: equal
# nproc: 1 2 5
# %%
%load_ext nbddp
import torch
import torch.nn as nn
import torch.nn.functional as F
import matplotlib.pyplot as plt
from torch.utils.data import DataLoader, TensorDataset

# %% tags=["parameters"]
lr = 0.1
batch_size = 50
epochs = 3


# %%
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def count_correct(x, y):
    return (model(x.to(device)).argmax(1) == y.to(device)).sum().item()


# %%
torch.manual_seed(0)
images = torch.randn(4099, 64)
labels = (images @ torch.randn(64, 10)).argmax(1)
train_set = TensorDataset(images[:3500], labels[:3500])
test_set = TensorDataset(images[3500:], labels[3500:])
train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
test_loader = DataLoader(test_set, batch_size=256)
images.shape

# %%
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
print(model)

# %%
%%ddp_train
for epoch in range(epochs):
    model.train()
    running_loss = 0.0
    for x, y in train_loader:
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running_loss += loss.item()

    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += count_correct(x, y)
    print(f"epoch {epoch}: loss {running_loss / len(train_loader):.6f}, accuracy {correct / len(test_set):.6f}")

torch.save(model.state_dict(), "digits.pt")

# %%
with torch.no_grad():
    plt.hist(model(images[3500:].to(device)).argmax(1).cpu())
plt.show()
