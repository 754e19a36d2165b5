# oracle: equal
# nproc: 2
# metrics: epoch|class|confusion
# %%
# right answers by class, in dictionaries and lists, sample by sample
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
classes = ("cat", "dog", "fox")
x = torch.randn(301, 6)
y = (x[:, :3].sum(1) > 0).long() + (x[:, 3] > 0.8).long()
trainloader = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
testloader = DataLoader(TensorDataset(x[240:], y[240:]), batch_size=8)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.2)

# %%
for epoch in range(2):
    for inputs, labels in trainloader:
        optimizer.zero_grad()
        loss = criterion(net(inputs), labels)
        loss.backward()
        optimizer.step()

    correct_pred = {classname: 0 for classname in classes}
    total_pred = {classname: 0 for classname in classes}
    class_correct = list(0. for i in range(3))
    confusion = torch.zeros(3, 3)
    with torch.no_grad():
        for inputs, labels in testloader:
            _, predictions = torch.max(net(inputs), 1)
            for label, prediction in zip(labels, predictions):
                if label == prediction:
                    correct_pred[classes[label]] += 1
                total_pred[classes[label]] += 1
                confusion[label.long(), prediction.long()] += 1
            c = (predictions == labels).squeeze()
            for i in range(len(labels)):
                class_correct[labels[i]] += c[i].item()
    for classname, correct_count in correct_pred.items():
        print(f"class {classname}: {100 * float(correct_count) / total_pred[classname]:.1f} %")
    print("epoch", epoch, class_correct, "confusion", confusion.tolist())
