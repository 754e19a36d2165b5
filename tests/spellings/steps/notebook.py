"""The notebook around a step."""

from __future__ import annotations

from textwrap import indent

from tests.spellings.program import CELLS, filled, needed

ONCE = """import collections
import functools
import itertools
class Scaled(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})
    @torch.no_grad()
    def step(self, scale):
        for group in self.param_groups:
            for p in group["params"]:
                p -= 0.001 * scale * p.grad
def smooth(o, t):
    return (o[1:] - o[:-1]).pow(2).mean()
def counted(o, t):
    total, i = 0, 0
    for p, q in zip(o, t):
        if i % 2:
            total = total + (p - q).pow(2).mean()
        i += 1
    return total / len(o)
def moved(v, total):
    v = v.detach().clone().requires_grad_()
    total(model(v)).backward()
    v.data.add_(0.5 * v.grad)
    optimizer.zero_grad()
    return v.detach()
def slope(v):
    v = v.detach().clone().requires_grad_()
    criterion(model(v), v[:, :1].detach()).backward()
    optimizer.zero_grad()
    return v.grad
def slope_of_all(v):
    w = torch.zeros(v.shape[1]).requires_grad_()
    model(v + w).pow(2).mean().backward()
    optimizer.zero_grad()
    return w.grad
class Sorted(nn.Module):
    def forward(self, v):
        return model(v.sort(0)[0])
class Turned(nn.Module):
    def forward(self, v):
        return model(v.t().softmax(1).t())
class Firsts(nn.Module):
    def forward(self, v):
        return model(v - v[:1])
class Sized(nn.Module):
    def forward(self, v):
        return model(v) / v.size(0)
class Deviating(nn.Module):
    def forward(self, v):
        return model(v) + v.std(0).mean()
class Guarded(nn.Module):
    def forward(self, v):
        return model(v) if v.mean() > 0 else 0.5 * model(v)
class Weighed(nn.Module):
    def forward(self, v):
        return model(v) * torch.softmax(model(v), 0)
class Placed(nn.Module):
    def forward(self, v):
        return model(v + torch.arange(len(v))[:, None] / 6)
class Tabled(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.linspace(0, 1, 6)[:, None]
    def forward(self, v):
        return model(v + self.table[: len(v)])
class Topped(nn.Module):
    def __init__(self):
        super().__init__()
        self.top = torch.tensor(0.0)
    def forward(self, v):
        self.top = torch.maximum(self.top, v.abs().max())
        return model(v / (1 + self.top))
topped = Topped()
class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
    def forward(self, o, t):
        self.n += len(o)
        return (o - t).pow(2).mean() * (1 + self.n / 100)
class Neighbours(nn.Module):
    def forward(self, o, t):
        return (o - t).pow(2).mean() + sum((p - q).pow(2).mean() for p, q in zip(o, o[1:]))
class Pairs(nn.Module):
    def forward(self, o, t):
        return (o[::2].sum() - t[1::2].sum()).pow(2) + (o - t - o[0]).pow(2).mean()
@functools.lru_cache(maxsize=None)
def log_of(epoch):
    return []
class Rows:
    def __init__(self):
        self.rows = []
    def __call__(self, row):
        self.rows.append(row)
    def __getitem__(self, place):
        return self.rows[place]
sgd = Scaled(model.parameters())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)"""
STEP = """for a, b in train_loader:
    optimizer.zero_grad()
    out = model(a)
    out.retain_grad()
    loss = criterion(out, b)
@mid@
    loss.backward()
@grad@
    optimizer.step()
@each@
"""


def notebook(before: str, mid: str, grad: str, each: str, shown: str, options: str = "") -> str:
    steps = filled(STEP, mid=indent(mid, "    "), grad=indent(grad, "    "), each=indent(each, "    "))
    end = f"print({shown})" if shown else ""
    training = f"{before}\n{steps}{end}"
    text = filled(CELLS, once=needed(ONCE, training), training=indent(training, "    "), show="", end="")
    text = text.replace("# %%\nfor epoch", f"# %%\n%%ddp_train {options}\nfor epoch") if options else text
    return text.replace("@LIMIT@", "0") + "print(model.weight.detach().sum().item())\n"
