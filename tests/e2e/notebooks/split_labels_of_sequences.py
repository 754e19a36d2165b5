# oracle: equal within 1e-5
# nproc: 1 2 3
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
texts = torch.randint(0, 20, (9, 100))   # (length, number of texts)
labels = (texts[0] + texts[1] > 19).float()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.rnn = nn.GRU(8, 12)
        self.fc = nn.Linear(12, 1)
    def forward(self, text):
        embedded = self.embedding(text)
        output, hidden = self.rnn(embedded)
        return self.fc(hidden.squeeze(0))
model = Net()
opt = torch.optim.SGD(model.parameters(), lr=0.3)
crit = nn.BCEWithLogitsLoss()
# %%
for epoch in range(3):
    order = torch.randperm(100)
    total, right = 0, 0
    for i in range(0, 100, 32):
        idx = order[i:i+32]
        text, label = texts[:, idx], labels[idx]
        predictions = model(text).squeeze(1)
        loss = crit(predictions, label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(label)
        right += ((predictions > 0) == (label > 0.5)).sum().item()
    print(f"{epoch} {total / 100:.4f} {right}")
