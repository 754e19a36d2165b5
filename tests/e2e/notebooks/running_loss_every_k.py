# oracle: equal
# nproc: 1 2
# metrics: loss:|Accuracy
# %% [markdown]
# Training a classifier, following the CIFAR10 tutorial on pytorch.org

# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from sklearn.datasets import load_digits

torch.manual_seed(0)

# %%
batch_size = 12
digits = load_digits()
images = (torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16 - 0.5) / 0.5
labels = torch.tensor(digits.target)
trainset = torch.utils.data.TensorDataset(images[:1200], labels[:1200])
trainloader = torch.utils.data.DataLoader(trainset, batch_size=batch_size,
                                          shuffle=True, num_workers=0)
testset = torch.utils.data.TensorDataset(images[1200:], labels[1200:])
testloader = torch.utils.data.DataLoader(testset, batch_size=batch_size,
                                         shuffle=False, num_workers=0)

# %%
# get some random training images
dataiter = iter(trainloader)
imgs, lbls = next(dataiter)
print(' '.join('%5s' % lbls[j].item() for j in range(4)))


# %%
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Linear(6 * 3 * 3, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = torch.flatten(x, 1)  # flatten all dimensions except batch
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        return x


torch.manual_seed(1)
net = Net()

# %%
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.02, momentum=0.9)

# %%
for epoch in range(2):  # loop over the dataset multiple times

    running_loss = 0.0
    for i, data in enumerate(trainloader, 0):
        # get the inputs; data is a list of [inputs, labels]
        inputs, labels = data

        # zero the parameter gradients
        optimizer.zero_grad()

        # forward + backward + optimize
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()

        # print statistics
        running_loss += loss.item()
        if i % 25 == 24:    # print every 25 mini-batches
            print(f'[{epoch + 1}, {i + 1:5d}] loss: {running_loss / 25:.3f}')
            running_loss = 0.0

print('Finished Training')
PATH = './digits_net.pth'
torch.save(net.state_dict(), PATH)

# %%
correct = 0
total = 0
# since we're not training, we don't need to calculate the gradients for our outputs
with torch.no_grad():
    for data in testloader:
        images, labels = data
        outputs = net(images)
        _, predicted = torch.max(outputs.data, 1)
        total += labels.size(0)
        correct += (predicted == labels).sum().item()

print(f'Test score of the network: {100 * correct // total} %')
