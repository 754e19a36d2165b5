# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
class Bag:
    def __init__(self, n): self.x = torch.randn(n, 4); self.w = torch.rand(n); self.y = torch.randn(n, 1)
    def get(self, size):
        ids = torch.randint(0, len(self.x), (size,))
        return {"x": self.x[ids], "w": self.w[ids], "y": self.y[ids]}
bag = Bag(200); model = nn.Linear(4, 1); opt = torch.optim.Adam(model.parameters(), 1e-2)
def compute(model, batch):
    pred = model(batch["x"])
    return (batch["w"].unsqueeze(1) * (pred - batch["y"]) ** 2).mean()
# %%
for step in range(21):
    batch = bag.get(16)
    loss = compute(model, batch)
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 10 == 0: print(step, f"{loss.item():.4f}")
