# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(1000, 10)
y = (X.sum(1) > 0).float()
batch_size = 50
n_epochs = 3

# %%
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.BCEWithLogitsLoss()

# %% tags=["ddp-train"]
for epoch in range(n_epochs):
    for i in range(0, len(X), batch_size):
        Xbatch = X[i:i+batch_size]
        y_pred = model(Xbatch).squeeze(1)
        ybatch = y[i:i+batch_size]
        loss = loss_fn(y_pred, ybatch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f'Finished epoch {epoch}, latest loss {loss}')
torch.save(model.state_dict(), "m.pt")
