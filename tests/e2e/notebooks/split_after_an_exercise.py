# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
torch.manual_seed(0)
X = torch.randn(70, 3)
Y = X.sum(1, keepdim=True)
# %%
weights = torch.randn((3, 1), requires_grad=True)
def neu(x):
    return x.mm(weights)
def cost(x, y):
    return torch.mean((x - y) ** 2)
def optimizer_step(learning_rate):
    weights.data.add_(-learning_rate * weights.grad.data)
    weights.grad.data.zero_()
# %%
for i in range(3):
    for start in range(0, len(X), 16):
        xx = X[start:start + 16]
        yy = Y[start:start + 16]
        loss = cost(neu(xx), yy)
        loss.backward()
        optimizer_step(0.01)
print(f"{loss.item():.4f} {weights.sum().item():.4f}")
# %%
neu = torch.nn.Sequential(torch.nn.Linear(3, 10), torch.nn.Sigmoid(), torch.nn.Linear(10, 1))
cost = torch.nn.MSELoss()
optimizer = torch.optim.SGD(neu.parameters(), lr=0.01)
# %%
#| ddp: train
for i in range(3):
    for start in range(0, len(X), 16):
        xx = X[start:start + 16]
        yy = Y[start:start + 16]
        loss = cost(neu(xx), yy)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(i, f"{loss.item():.4f}")
