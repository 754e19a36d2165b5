# oracle: equal
# nproc: 2 3
# %%
# what the loop keeps is no plain sum: squares for a deviation, the largest, text, outputs by the number of the sample
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
inputs = torch.randn(240, 4)
targets = inputs.sum(1, keepdim=True).cos()


class Numbered(Dataset):
    def __len__(self):
        return len(inputs)

    def __getitem__(self, number):
        return inputs[number], targets[number], number


train_loader = DataLoader(Numbered(), batch_size=24, shuffle=True)
net = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

# %%
for epoch in range(3):
    total = squares = largest = 0.0
    told = ""
    outputs = torch.zeros(len(inputs))
    for x, y, number in train_loader:
        output = net(x)
        loss = F.mse_loss(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        squares += loss.item() ** 2
        largest = max(largest, loss.item())
        told += f"{loss.item():.2f} "
        outputs[number] = output.detach().squeeze(1)
    mean = total / len(train_loader)
    deviation = (squares / len(train_loader) - mean**2) ** 0.5
    print(f"epoch {epoch}: {mean:.5f} ± {deviation:.5f}, at most {largest:.5f}; outputs {outputs.mean():.5f}; {told}")
