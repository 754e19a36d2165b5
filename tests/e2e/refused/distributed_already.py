# refused: already
# %%
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", "29511"
dist.init_process_group("gloo", rank=0, world_size=1)
data = TensorDataset(torch.randn(96, 4), torch.randn(96, 1))
loader = DataLoader(data, batch_size=12, sampler=DistributedSampler(data))
model = DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

# %%
for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
