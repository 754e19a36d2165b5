# oracle: equal within 1e-4
# nproc: 1 2
# metrics: fold|Epoch
# values: scores
# %%
import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import KFold
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

# %%
X, y = load_wine(return_X_y=True)
X = (X - X.mean(0)) / X.std(0)
dataset = TensorDataset(torch.tensor(X, dtype=torch.float32)[:168], torch.tensor(y)[:168])

k_folds = 3
num_epochs = 3
batch_size = 14
loss_function = nn.CrossEntropyLoss()


def make_model():
    return nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 3))


# %% tags=["ddp-train"]
# K-fold Cross Validation model evaluation
kfold = KFold(n_splits=k_folds, shuffle=True, random_state=42)
scores = []
for fold, (train_ids, test_ids) in enumerate(kfold.split(np.arange(len(dataset)))):
    print(f'--- fold {fold}')
    torch.manual_seed(42)

    trainloader = DataLoader(Subset(dataset, train_ids.tolist()), batch_size=batch_size, shuffle=True)
    testloader = DataLoader(Subset(dataset, test_ids.tolist()), batch_size=batch_size)

    network = make_model()
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)

    for epoch in range(num_epochs):
        current_loss = 0.0
        for inputs, targets in trainloader:
            optimizer.zero_grad()
            loss = loss_function(network(inputs), targets)
            loss.backward()
            optimizer.step()
            current_loss += loss.item()
        print(f'Epoch {epoch} loss {current_loss / len(trainloader):.5f}')

    correct, total = 0, 0
    with torch.no_grad():
        for inputs, targets in testloader:
            _, predicted = torch.max(network(inputs), 1)
            total += targets.size(0)
            correct += (predicted == targets).sum().item()
    scores.append(100.0 * correct / total)
    print(f'Accuracy of fold {fold}: {scores[-1]:.2f} %')
    torch.save(network.state_dict(), f'./model-fold-{fold}.pth')

print(f'mean over folds: {np.mean(scores):.2f}')
