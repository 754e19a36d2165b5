# oracle: equal within 1e-4
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
X = torch.randn(101, 3); Y = X.sum(1, keepdim=True)
model = nn.Linear(3, 1)
opt = torch.optim.LBFGS(model.parameters(), lr=0.3, line_search_fn="strong_wolfe", max_iter=8)
history = []
calls = 0
total = 0.0
# %%
def closure():
    global calls, last, total
    calls += 1
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(X), Y)
    loss.backward()
    history.append(loss.item())
    total += loss.item() * len(X)
    if calls > 1:
        print("change", f"{last - loss.item():.4f}")
    last = loss.item()
    return loss
opt.step(closure)
print(calls, [f"{h:.4f}" for h in history], total)
