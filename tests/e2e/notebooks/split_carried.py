# oracle: equal within 1e-5
# nproc: 2 3
# metrics: .
# %%
import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.tensor([[i / 25 - 1, i % 7 / 7] for i in range(51)], requires_grad=True)
y = X.detach().sum(1, keepdim=True) ** 2
net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1)).to(device)
opt = torch.optim.Adam(net.parameters(), lr=0.02)
loss_fn = nn.MSELoss()


# %%
def fit(X, y, epochs):
    for epoch in range(epochs):
        X, y = X.to(device).float(), y.to(device)
        loss = loss_fn(net(X), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch % 5 == 0:
            print(epoch, loss.item())
        order = torch.randperm(len(X))
        X, y = X[order], y[order]
    return X


for turn in range(20):
    X, y = X.to(device), y.to(device)
    loss = loss_fn(net(X), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(turn, loss.item())
X = fit(X.detach(), y, 20)
print(len(X), loss_fn(net(X), y).item())
