# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
X = torch.randn(101, 3); Y = X.sum(1, keepdim=True)
model = nn.Linear(3, 1)
opt = torch.optim.LBFGS(model.parameters(), lr=0.3, line_search_fn="strong_wolfe")
def closure():
    opt.zero_grad()
    loss = ((model(X) - Y) ** 2).mean()
    loss.backward()
    return loss
# %%
for it in range(4):
    l = opt.step(closure)
    print(it, f"{l.item():.6f}")
print(f"{closure().item():.5f}")
