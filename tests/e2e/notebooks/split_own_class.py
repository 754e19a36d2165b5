# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch, random
from torch import nn
random.seed(1); torch.manual_seed(1)
class Batches:
    def __init__(self, X, y, size):
        self.X, self.y, self.size = X, y, size
    def __len__(self):
        return (len(self.X) + self.size - 1) // self.size
    def __iter__(self):
        order = list(range(len(self.X))); random.shuffle(order)
        for i in range(0, len(order), self.size):
            part = order[i:i + self.size]
            yield {"x": self.X[part], "y": self.y[part]}
X = torch.randn(70, 3); y = (X[:, 0] > 0).float()
loader = Batches(X, y, 16)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
# %%
for epoch in range(3):
    run = 0.0
    for batch in loader:
        p = model(batch["x"]).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(p, batch["y"])
        opt.zero_grad(); loss.backward(); opt.step()
        run += loss.item()
    print(epoch, run / len(loader))
