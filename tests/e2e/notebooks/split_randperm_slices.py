# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
import torch.nn.functional as F
from torch import nn, optim

N = 500
train_input = torch.randn(N, 2)
train_target = (train_input.norm(dim=1) < 1.2).long()
net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
opt = optim.SGD(net.parameters(), lr=0.1)
bs = 25

# %%
for e in range(5):
    perm = torch.randperm(N)
    acc_loss = 0
    for k in range(0, N, bs):
        idx = perm[k : k + bs]
        out = net(train_input[idx])
        loss = F.cross_entropy(out, train_target[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        acc_loss += loss.item()
    print(e, acc_loss)
torch.save(net.state_dict(), "net.pt")
