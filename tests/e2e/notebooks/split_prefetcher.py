# oracle: equal within 1e-5
# nproc: 1 2 3
# metrics: .
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X = torch.randn(190, 6); y = (X.sum(1) > 0).long()
train_loader = DataLoader(TensorDataset(X, y), batch_size=32)
model = nn.Linear(6, 2); opt = torch.optim.SGD(model.parameters(), lr=0.1)
class Prefetcher:
    def __init__(self, loader):
        self.loader = iter(loader); self.preload()
    def preload(self):
        try:
            self.x, self.y = next(self.loader)
        except StopIteration:
            self.x = self.y = None
    def next(self):
        x, y = self.x, self.y
        self.preload()
        return x, y
# %%
for epoch in range(3):
    pre = Prefetcher(train_loader)
    xb, yb = pre.next()
    while xb is not None:
        loss = nn.functional.cross_entropy(model(xb), yb)
        opt.zero_grad(); loss.backward(); opt.step()
        xb, yb = pre.next()
    print(epoch, f"{loss.item():.5f}")
