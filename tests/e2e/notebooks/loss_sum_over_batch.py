# oracle: equal
# nproc: 1 2 3
# values: train_ls
# %%
# d2l style: squared loss per sample, .sum() / batch_size by hand
import torch
from torch import nn
from torch.utils import data

true_w = torch.tensor([2, -3.4])
true_b = 4.2
torch.manual_seed(10)
features = torch.normal(0, 1, (600, 2))
labels = features @ true_w + true_b + torch.normal(0, 0.01, (600,))
labels = labels.reshape(-1, 1)


# %%
def load_array(data_arrays, batch_size, is_train=True):
    """Construct a PyTorch data iterator."""
    dataset = data.TensorDataset(*data_arrays)
    return data.DataLoader(dataset, batch_size, shuffle=is_train)


batch_size = 12
data_iter = load_array((features, labels), batch_size)
next(iter(data_iter))

# %%
torch.manual_seed(11)
net = nn.Sequential(nn.Linear(2, 1))
net[0].weight.data.normal_(0, 0.01)
net[0].bias.data.fill_(0)
loss = nn.MSELoss(reduction='none')
trainer = torch.optim.SGD(net.parameters(), lr=0.03)

# %%
num_epochs = 3
train_ls = []
for epoch in range(num_epochs):
    for X, y in data_iter:
        l = loss(net(X), y).sum() / batch_size
        trainer.zero_grad()
        l.backward()
        trainer.step()
    with torch.no_grad():
        l = loss(net(features), labels)
    train_ls.append(l.mean().item())
    print(f'epoch {epoch + 1}, loss {train_ls[-1]:f}')

torch.save(net.state_dict(), 'linreg.pt')

# %%
w = net[0].weight.data
print('error in estimating w:', true_w - w.reshape(true_w.shape))
