# oracle: equal
# nproc: 1 2
# metrics: ^epoch
# %%
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
xs = torch.linspace(-2, 2, 240).unsqueeze(1)
ys = xs ** 3 - xs
train_dl = DataLoader(TensorDataset(xs, ys), 20, shuffle=True)
model = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 1))


# %%
def fit(model, dl, epochs=3, lr=0.02):
    opt = optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        tot = 0.
        for xb, yb in dl:
            loss = nn.functional.mse_loss(model(xb), yb)
            loss.backward()
            opt.step()
            opt.zero_grad()
            tot += loss.item()
        print('epoch', epoch, 'mse', round(tot / len(dl), 5))
    torch.save(model.state_dict(), 'cubic.pt')


# %%
%time fit(model, train_dl, epochs=4)
