# oracle: equal
# nproc: 1 2
# %%
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


# %%
def get_data_loaders(batch_size, test_batch_size=128, seed=0):
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, train_size=1440, random_state=seed)
    train_set = TensorDataset(torch.tensor(X_train, dtype=torch.float32), torch.tensor(y_train))
    test_set = TensorDataset(torch.tensor(X_test, dtype=torch.float32), torch.tensor(y_test))
    train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=test_batch_size, shuffle=False)
    return train_loader, test_loader


def build(lr, device):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, nesterov=True)
    return model, optimizer


# %%
DEVICE = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
trainloader, testloader = get_data_loaders(batch_size=48)
model, optimizer = build(0.1, DEVICE)
criterion = nn.CrossEntropyLoss()


# %%
def train(net, trainloader, optimizer, epochs):
    """Train the network on the training set."""
    net.train()
    for epoch in range(epochs):
        correct, total, epoch_loss = 0, 0, 0.0
        for images, labels in trainloader:
            images, labels = images.to(DEVICE), labels.to(DEVICE)
            optimizer.zero_grad()
            outputs = net(images)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            # Metrics
            epoch_loss += loss
            total += labels.size(0)
            correct += (torch.max(outputs.data, 1)[1] == labels).sum().item()
        epoch_loss /= len(trainloader.dataset)
        epoch_acc = correct / total
        print(f"Epoch {epoch+1}: train loss {epoch_loss:.6f}, accuracy {epoch_acc:.4f}")


def test(net, testloader):
    """Evaluate the network on the entire test set."""
    correct, total, loss = 0, 0, 0.0
    net.eval()
    with torch.no_grad():
        for images, labels in testloader:
            images, labels = images.to(DEVICE), labels.to(DEVICE)
            outputs = net(images)
            loss += criterion(outputs, labels).item()
            _, predicted = torch.max(outputs.data, 1)
            total += labels.size(0)
            correct += (predicted == labels).sum().item()
    loss /= len(testloader.dataset)
    accuracy = correct / total
    return loss, accuracy


# %% tags=["ddp-train"]
train(model, trainloader, optimizer, 3)
loss, accuracy = test(model, testloader)
print(f"after the last epoch: test loss {loss:.6f}, accuracy {accuracy:.4f}")
torch.save(model.state_dict(), "net.pt")
