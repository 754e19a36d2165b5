# oracle: equal within 1e-4
# nproc: 2
# %%
# the hidden state goes from batch to batch, cut off from the graph
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
batch_size = 12
text = (torch.arange(2881) * 7 % 13).long()
inputs, targets = text[:2880].view(120, 24), text[1:2881].view(120, 24)
loader = DataLoader(TensorDataset(inputs, targets), batch_size=batch_size, shuffle=True, drop_last=True)


# %%
class CharRNN(nn.Module):
    def __init__(self, n_chars=13, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(n_chars, 8)
        self.gru = nn.GRU(8, hidden, batch_first=True)
        self.out = nn.Linear(hidden, n_chars)

    def forward(self, x, h):
        y, h = self.gru(self.embed(x), h)
        return self.out(y), h

    def init_hidden(self, batch_size):
        return torch.zeros(1, batch_size, self.hidden)


net = CharRNN()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    h = net.init_hidden(batch_size)
    total = 0.0
    for x, y in loader:
        h = h.detach()
        out, h = net(x, h)
        loss = F.cross_entropy(out.reshape(-1, 13), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: {total / len(loader):.4f}")
