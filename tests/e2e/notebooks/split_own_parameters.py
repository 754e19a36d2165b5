# oracle: equal within 1e-5
# nproc: 1 2 3 5
# metrics: .
# values: C W1 b1 W2 b2
# %%
import torch, numpy as np, random
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0); np.random.seed(0); random.seed(0)
lossf = nn.CrossEntropyLoss()
import string
words = ["emma","olivia","ava","isabella","sophia","mia","charlotte","amelia"] * 10
stoi = {c: i + 1 for i, c in enumerate(string.ascii_lowercase)}; stoi['.'] = 0
xs, ys = [], []
for w in words:
    ctx = [0] * 3
    for ch in w + '.':
        xs.append(ctx); ys.append(stoi[ch]); ctx = ctx[1:] + [stoi[ch]]
Xtr, Ytr = torch.tensor(xs), torch.tensor(ys)
g = torch.Generator().manual_seed(2147483647)
C = torch.randn((27, 4), generator=g); W1 = torch.randn((12, 20), generator=g); b1 = torch.randn(20, generator=g)
W2 = torch.randn((20, 27), generator=g); b2 = torch.randn(27, generator=g)
parameters = [C, W1, b1, W2, b2]
for p in parameters: p.requires_grad = True
# %%
for i in range(50):
    ix = torch.randint(0, Xtr.shape[0], (32,), generator=g)
    emb = C[Xtr[ix]]
    h = torch.tanh(emb.view(-1, 12) @ W1 + b1)
    logits = h @ W2 + b2
    loss = F.cross_entropy(logits, Ytr[ix])
    for p in parameters: p.grad = None
    loss.backward()
    for p in parameters: p.data += -0.1 * p.grad
print(f"{loss.item():.4f}")
