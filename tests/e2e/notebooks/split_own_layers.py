# oracle: equal within 1e-5
# nproc: 1 2 3
# metrics: .
# values: i
# %%
import torch; torch.manual_seed(1)
import torch.nn.functional as F
# %%
Xtr = torch.randint(0, 27, (1000, 8))
Ytr = torch.randint(0, 27, (1000,))
# %%
class Linear:
    def __init__(self, i, o):
        self.W = torch.randn(i, o) * i ** -0.5
    def __call__(self, x):
        return x @ self.W
    def parameters(self):
        return [self.W]
class Embedding:
    def __init__(self, n, d):
        self.W = torch.randn(n, d)
    def __call__(self, ix):
        return self.W[ix].flatten(1)
    def parameters(self):
        return [self.W]
class Sequential:
    def __init__(self, layers):
        self.layers = layers
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]
# %%
model = Sequential([Embedding(27, 8), Linear(64, 27)])
params = model.parameters()
for p in params:
    p.requires_grad = True
# %%
for i in range(10):
    xi = torch.randint(0, Xtr.shape[0], (32,))
    Xb, Yb = Xtr[xi], Ytr[xi]
    logits = model(Xb)
    loss = F.cross_entropy(logits, Yb)
    for p in params:
        p.grad = None
    loss.backward()
    for p in params:
        p.data -= 0.1 * p.grad
    print(i, loss.item())
