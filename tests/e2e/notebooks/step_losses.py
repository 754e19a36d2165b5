# oracle: equal
# nproc: 1 2 3
# values: losses epoch_losses
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import matplotlib.pyplot as plt
%matplotlib inline

# %%
torch.manual_seed(0)
x = torch.unsqueeze(torch.linspace(-1, 1, 240), dim=1)
y = x.pow(2) + 0.1 * torch.rand(x.size())
plt.scatter(x, y)
plt.show()

# %%
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
net = nn.Sequential(nn.Linear(1, 20), nn.ReLU(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.8)
loss_func = nn.MSELoss()

# %%
losses = []
epoch_losses = []
for epoch in range(4):
    for step, (b_x, b_y) in enumerate(loader):
        output = net(b_x)
        loss = loss_func(output, b_y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    epoch_losses.append(sum(losses[-len(loader):]) / len(loader))
    print('Epoch: ', epoch, '| loss: %.5f' % epoch_losses[-1])
torch.save(net.state_dict(), 'net_params.pkl.pt')

# %%
plt.plot(losses)
plt.xlabel('step')
plt.ylabel('loss')
