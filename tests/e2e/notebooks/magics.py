# oracle: equal
# nproc: 1 2
# metrics: ^epoch
# %%
%load_ext autoreload
%autoreload 2
%matplotlib inline
!echo "installing nothing"
# !pip install torchinfo

# %%
import os
import sys

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

here = !pwd
%env TOKENIZERS_PARALLELISM=false
print(sys.version)

# %%
%%bash
echo "some shell"
ls

# %%
if not os.path.exists("data"):
    !mkdir data

# %%
torch.manual_seed(0)
x = torch.randn(300, 5)
y = x.sum(1, keepdim=True)
train_dl = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
model = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.02)

# %%
?nn.MSELoss

# %%
%%time
for epoch in range(3):
    s = 0.0
    for xb, yb in train_dl:
        loss = nn.functional.mse_loss(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item()
    print("epoch %d loss %.6f" % (epoch, s / len(train_dl)))
torch.save(model.state_dict(), "model.pt")

# %%
!ls -la model.pt
