# oracle: equal
# nproc: 2
# metrics: ^epoch
# %%
# parameters updated by hand, as in lesson 2
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(640, 5)
y = (x @ torch.randn(5, 1)) + 0.1
dl = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Linear(5, 1)
lr = 0.02

# %%
for epoch in range(3):
    for xb, yb in dl:
        loss = ((model(xb) - yb) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= p.grad * lr
            model.zero_grad()
    print('epoch', epoch, 'last loss', loss.item())
torch.save(model.state_dict(), 'by_hand.pt')
