# oracle: equal
# nproc: 2
# %%
import sys

IN_COLAB = "google.colab" in sys.modules
if IN_COLAB:
    %cd /content
    !pip install -q torchinfo
else:
    %matplotlib inline
try:
    import tqdm.auto as bars
except ImportError:
    !pip install tqdm
    import tqdm.auto as bars

# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(240, 6)
y = (x[:, :3].sum(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
model = nn.Linear(6, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)

# %%
running = []
for epoch in (outer := bars.trange(2)):
    stream = bars.tqdm(loader, desc=f"epoch {epoch}", leave=False)
    total = 0.0
    for step, (xb, yb) in enumerate(stream, start=1):
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
        running.append(loss)
        stream.set_postfix(loss=total.item() / step)
    outer.set_postfix(loss=total.item() / len(stream))
    print(f"epoch {epoch}: {total.item() / step:.6f}, so far {torch.stack(running).mean().item():.6f}")
