# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(40, 4); y = (X.sum(1) > 0).long()
U = torch.randn(300, 4)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
# %%
seen = 0.0
for step in range(40):
    i = torch.randint(0, len(X), (8,))
    j = torch.randint(0, len(U), (33,))
    xl, yl = X[i], y[i]
    xu = U[j]
    sup = F.cross_entropy(model(xl), yl)
    with torch.no_grad():
        target = model(xu).softmax(1)
    unsup = F.mse_loss(model(xu + 0.1).softmax(1), target)
    loss = sup + 0.5 * unsup
    opt.zero_grad(); loss.backward(); opt.step()
    seen += sup.item() * len(xl)
    if step % 10 == 0:
        print(step, loss.item(), sup.item(), unsup.item(), seen)
