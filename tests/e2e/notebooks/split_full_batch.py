# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
X = torch.linspace(-1, 1, 101).unsqueeze(1)
y = X ** 3 + 0.1 * torch.randn_like(X)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(1, 20)
        self.l2 = nn.Linear(20, 1)
    def forward(self, x):
        return self.l2(torch.tanh(self.l1(x)))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=0.02)
loss_fn = nn.MSELoss()
# %%
for epoch in range(100):
    y_pred = net(X)
    loss = loss_fn(y_pred, y)
    if epoch % 20 == 0:
        print(epoch, loss.item())
    opt.zero_grad()
    loss.backward()
    opt.step()
print("final", loss_fn(net(X), y).item())
