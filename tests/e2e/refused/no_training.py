# refused: train|backward
# %%
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(4, 2)
model.eval()
loader = DataLoader(TensorDataset(torch.randn(100, 4)), batch_size=10)

# %%
# inference only
predictions = []
with torch.no_grad():
    for (x,) in loader:
        predictions.append(model(x).argmax(1))
torch.cat(predictions).bincount()
