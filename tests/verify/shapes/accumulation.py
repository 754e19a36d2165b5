# verdict: same
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
accumulation_steps = 4
X = torch.randn(114, 10)
Y = (X[:, 0] > 0).long()
train_loader = DataLoader(TensorDataset(X, Y), batch_size=6, shuffle=True)
model = nn.Sequential(nn.Linear(10, 12), nn.GELU(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
criterion = nn.CrossEntropyLoss()

# %%
for epoch in range(2):
    running = 0.0
    optimizer.zero_grad()
    for step, (xb, yb) in enumerate(train_loader):
        loss = criterion(model(xb), yb) / accumulation_steps
        loss.backward()
        running += loss.item() * accumulation_steps
        if (step + 1) % accumulation_steps == 0 or step + 1 == len(train_loader):
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch} loss {running / len(train_loader):.6f}")
