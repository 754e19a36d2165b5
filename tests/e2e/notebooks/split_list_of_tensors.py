# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
# all batches cut beforehand and kept on the device
import torch
import torch.nn as nn

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
data = torch.randn(640, 5).to(device)
target = data.sum(1, keepdim=True)
batches = list(zip(data.split(32), target.split(32)))

# %%
model = nn.Linear(5, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
torch.save(model.state_dict(), "m.pt")
