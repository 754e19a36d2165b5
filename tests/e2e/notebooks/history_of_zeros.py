# oracle: equal
# nproc: 2
# values: loss_hist_train loss_hist_valid
# %%
# histories are made at full length, and each epoch adds to its own place
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
x = torch.randn(301, 6)
y = (x[:, :3].sum(1) > 0).float()
train_dl = DataLoader(TensorDataset(x[:240], y[:240]), 24, shuffle=True)
valid_dl = DataLoader(TensorDataset(x[240:], y[240:]), 10)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
loss_fn = nn.BCELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)


# %%
def train(model, num_epochs, train_dl, valid_dl):
    loss_hist_train = [0] * num_epochs
    accuracy_hist_train = [0] * num_epochs
    loss_hist_valid = torch.zeros(num_epochs)
    accuracy_hist_valid = np.zeros(num_epochs)
    for epoch in range(num_epochs):
        model.train()
        for x_batch, y_batch in train_dl:
            pred = model(x_batch)[:, 0]
            loss = loss_fn(pred, y_batch)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            loss_hist_train[epoch] += loss.item() * y_batch.size(0)
            accuracy_hist_train[epoch] += ((pred >= 0.5).float() == y_batch).float().sum()
        loss_hist_train[epoch] /= len(train_dl.dataset)
        accuracy_hist_train[epoch] /= len(train_dl.dataset)

        model.eval()
        with torch.no_grad():
            for x_batch, y_batch in valid_dl:
                pred = model(x_batch)[:, 0]
                loss_hist_valid[epoch] += loss_fn(pred, y_batch).item() * y_batch.size(0)
                accuracy_hist_valid[epoch] += ((pred >= 0.5).float() == y_batch).float().sum().item()
        loss_hist_valid[epoch] /= len(valid_dl.dataset)
        accuracy_hist_valid[epoch] /= len(valid_dl.dataset)
        print(f"Epoch {epoch + 1} accuracy: {accuracy_hist_train[epoch]:.4f} val_accuracy: {accuracy_hist_valid[epoch]:.4f}")
    return loss_hist_train, loss_hist_valid, accuracy_hist_train, accuracy_hist_valid


loss_hist_train, loss_hist_valid, *accuracies = train(model, 3, train_dl, valid_dl)
