# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# values: w b
# %% imports
import random

import torch

torch.manual_seed(0)
random.seed(0)

# %% data
true_w, true_b = torch.tensor([2, -3.4]), 4.2
features = torch.zeros(size=(205, 2)).normal_()
labels = torch.matmul(features, true_w) + true_b
labels += torch.zeros(size=labels.shape).normal_(std=0.01)


def data_iter(batch_size, features, labels):
    indices = list(range(len(features)))
    random.shuffle(indices)
    for i in range(0, len(features), batch_size):
        j = torch.tensor(indices[i : i + batch_size])
        yield features[j], labels[j]


# %% parameters
w = torch.zeros(size=(2, 1)).normal_(std=0.01)
b = torch.zeros(size=(1,))
w.requires_grad_(True)
b.requires_grad_(True)


def linreg(X, w, b):
    return torch.matmul(X, w) + b


def squared_loss(y_hat, y):
    return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2


def sgd(params, lr):
    for param in params:
        param.data.sub_(lr * param.grad)
        param.grad.data.zero_()


# %% train
net = linreg
loss = squared_loss
for epoch in range(3):
    for X, y in data_iter(10, features, labels):
        l = loss(net(X, w, b), y)  # noqa: E741 -- as the book writes it
        l.mean().backward()
        sgd([w, b], 0.03)
    with torch.no_grad():
        train_l = loss(net(features, w, b), labels)
        print("epoch %d, loss %f" % (epoch + 1, train_l.mean().numpy()))
