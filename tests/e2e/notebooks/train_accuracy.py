# oracle: equal
# nproc: 1 2
# metrics: Got|epoch
# %%
# Simple fully connected net, Aladdin Persson's layout
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

# %%
# Set device
device = "cuda" if torch.cuda.is_available() else "cpu"

# Hyperparameters
input_size = 64
num_classes = 10
learning_rate = 0.005
batch_size = 64
num_epochs = 3


class NN(nn.Module):
    def __init__(self, input_size, num_classes):
        super(NN, self).__init__()
        self.fc1 = nn.Linear(input_size, 50)
        self.fc2 = nn.Linear(50, num_classes)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


# %%
# Load Data
digits = load_digits()
data = torch.tensor(digits.images, dtype=torch.float32) / 16
targets = torch.tensor(digits.target)
train_dataset = TensorDataset(data[:1280], targets[:1280])
test_dataset = TensorDataset(data[1280:], targets[1280:])
train_loader = DataLoader(dataset=train_dataset, batch_size=batch_size, shuffle=True)
test_loader = DataLoader(dataset=test_dataset, batch_size=batch_size, shuffle=True)

# Initialize network
torch.manual_seed(0)
model = NN(input_size=input_size, num_classes=num_classes).to(device)

# Loss and optimizer
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=learning_rate)


# %%
# Check accuracy on training & test to see how good our model is
def check_accuracy(loader, model):
    num_correct = 0
    num_samples = 0
    model.eval()

    with torch.no_grad():
        for x, y in loader:
            x = x.to(device=device)
            y = y.to(device=device)
            x = x.reshape(x.shape[0], -1)

            scores = model(x)
            _, predictions = scores.max(1)
            num_correct += (predictions == y).sum()
            num_samples += predictions.size(0)

    model.train()
    return num_correct / num_samples


# %% tags=["ddp-train"]
# Train Network
for epoch in range(num_epochs):
    for batch_idx, (data, targets) in enumerate(train_loader):
        # Get data to cuda if possible
        data = data.to(device=device)
        targets = targets.to(device=device)

        # Get to correct shape
        data = data.reshape(data.shape[0], -1)

        # Forward
        scores = model(data)
        loss = criterion(scores, targets)

        # Backward
        optimizer.zero_grad()
        loss.backward()

        # Gradient descent or adam step
        optimizer.step()
    print(f"epoch {epoch}: accuracy on training set: {check_accuracy(train_loader, model)*100:.2f}")

print(f"Got accuracy on test set: {check_accuracy(test_loader, model)*100:.2f}")
torch.save(model.state_dict(), "nn.pt")
