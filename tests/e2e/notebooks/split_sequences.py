# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# %%
import torch
from torch import nn
torch.manual_seed(0)
src = torch.randint(0, 12, (77, 9)); tgt = src.flip(1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(12, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.out = nn.Linear(16, 12)
    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        return self.out(h)
net = Net(); opt = torch.optim.Adam(net.parameters(), 1e-2); crit = nn.CrossEntropyLoss()
# %%
bs = 20
for epoch in range(4):
    perm = torch.randperm(77); total = 0; seen = 0
    for k in range(0, 77, bs):
        b = perm[k:k+bs]
        logits = net(src[b])
        loss = crit(logits.reshape(-1, 12), tgt[b].reshape(-1))
        opt.zero_grad(); loss.backward(); torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0); opt.step()
        total += loss.item() * b.numel(); seen += b.size(0)
    acc = (net(src).argmax(-1) == tgt).float().mean().item()
    print(epoch, f"{total / seen:.4f} {acc:.4f}")
