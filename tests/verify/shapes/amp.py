# verdict: alike autocast
# dp: alike
# %%
import torch
from torch import nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(10)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(72, 16)
y = (x @ torch.randn(16, 4)).argmax(1)
train_dl = DataLoader(TensorDataset(x, y), batch_size=12, shuffle=True)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = GradScaler(device.type)

# %%
for epoch in range(2):
    for data, target in train_dl:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad(set_to_none=True)
        with autocast(device_type=device.type, dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(data), target)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        scaler.step(optimizer)
        scaler.update()
