# refused: d2l|module
# %%
import torch
from d2l import torch as d2l
from torch import nn

net = nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
batch_size, lr, num_epochs = 256, 0.1, 3
train_iter, test_iter = d2l.load_data_fashion_mnist(batch_size)
loss = nn.CrossEntropyLoss(reduction="none")
trainer = torch.optim.SGD(net.parameters(), lr=lr)

# %%
d2l.train_ch3(net, train_iter, test_iter, loss, num_epochs, trainer)
