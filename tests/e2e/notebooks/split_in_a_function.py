# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
X = torch.randn(90, 4); y = X @ torch.tensor([1., -2., 3., 0.5]) + 1
def train(model, X, y, epochs=50, lr=0.05):
    opt = torch.optim.SGD(model.parameters(), lr=lr)
    criterion = nn.MSELoss()
    history = []
    for epoch in range(epochs):
        model.train()
        opt.zero_grad()
        pred = model(X).squeeze()
        loss = criterion(pred, y)
        loss.backward()
        opt.step()
        history.append(loss.item())
    return history
# %%
model = nn.Linear(4, 1)
h = train(model, X, y)
print(h[0], h[-1])
