"""What a model makes of its batch: by a statistic of it, by how many samples it has, by the places where they stand."""

from __future__ import annotations

from textwrap import indent

from tests.spellings.program import CELLS, filled

NET = """import functools
import math
import types
import torch.nn.functional as F
from einops.layers.torch import Reduce
from torch.utils.checkpoint import checkpoint
class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        @given@
    @staticmethod
    def backward(ctx, g):
        @back@
class Scaled(nn.Module):
    def forward(self, h):
        return h / (1 + h.abs().max())
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.Linear(4, 1)
        @fields@
    def centred(self, h):
        return h - h.mean(0)
    def forward(self, x):
        h = self.a(x).tanh()
        @forward@
        return self.b(h)
torch.manual_seed(1)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
@behind@"""
STEP = """for a, b in train_loader:
    optimizer.zero_grad()
    loss = criterion(model(a), b)
    loss.backward()
    optimizer.step()
print(loss.item())
"""
FORWARDS = (  # what __init__ sets, what forward does
    # a statistic, as a tensor or as a number
    ("", "h = h - h.mean(0)"),
    ("", "h = h / h.abs().max().item()"),
    ("", "h = h * (2.0 if h.max().item() > 0.5 else 1.0)"),
    ("", "k = int((h > 0).double().mean().item() * 10); h = h * (1 + k)"),
    ("self.m = 1.0", "self.m = 0.9 * self.m + 0.1 * h.abs().mean().item(); h = h / self.m"),
    ("", "rows = list(h); h = h - sum(rows) / len(rows)"),
    ("self.how = 'mean'", "h = h - getattr(h, self.how)(dim=0)"),
    ("self.how = 'cent'", "h = getattr(self, f'{self.how}red')(h)"),
    ("self.scaled = functools.partial(F.normalize, dim=0)", "h = self.scaled(h)"),
    ("", "h = checkpoint(self.centred, h, use_reentrant=False)"),
    ("", "h = torch.vmap(lambda column: column / column.norm(), 1, 1)(h)"),
    ("self.mean = Reduce('b c -> c', 'mean')", "h = h - self.mean(h)"),
    # a product over the samples, fed on
    ("", "h = h @ (torch.einsum('bi,bj->ij', h, h) / len(h))"),
    ("", "h = h @ torch.inverse(h.t() @ h / 6 + torch.eye(4))"),
    ("", "h = h @ torch.cov(h.T)"),
    ("", "h = (torch.eye(len(h)) - torch.ones(len(h), len(h)) / len(h)) @ h"),
    # how many there are
    ("", "h = h * math.sqrt(len(x)) / 2"),
    ("", "h = h + x.size(0) / 10"),
    ("", "h = (h / len(h)).tanh()"),
    ("", "n, d = x.shape; h = h * (n / 20)"),
    ("", "h = h * torch.log(torch.tensor(1.0 + x.shape[0]))"),
    ("", "h = h * min(1.0, x.size(0) / 20)"),
    ("self.seen = 0", "self.seen += x.size(0); h = h * math.exp(-0.01 * self.seen)"),
    # where they stand
    ("self.table = nn.Embedding(8, 4)", "h = h + self.table(torch.arange(x.size(0)))"),
    ("self.register_buffer('noise', torch.randn(8, 4))", "h = h + self.noise[: x.size(0)]"),
    ("self.register_buffer('noise', torch.randn(8, 1, 4))", "h = h + self.noise[: h.shape[0]].squeeze(1)"),
    ("", "h = h * torch.linspace(0, 1, x.shape[0]).unsqueeze(1)"),
    ("", "h = h * (torch.arange(h.size(0)) % 2)[:, None]"),
    ("", "h = torch.stack([h[i] * (1 + i / 10) for i in range(len(x))])"),
    ("", "h = torch.stack([row if i % 2 else -row for i, row in enumerate(h)])"),
    ("", "u = torch.zeros_like(h); for i in range(len(x)): u[i] = h[i] * (1 + i / 10); h = u"),
    (
        "self.rates = [0.1, 0.4, 0.2, 0.3, 0.9, 0.5] * 2",
        "h = torch.stack([h[i] * self.rates[i] for i in range(len(x))])",
    ),
    # layers that go along the samples
    ("self.b = nn.Sequential(nn.Softmax(dim=0), nn.Linear(4, 1))", ""),
    ("self.layers = nn.ModuleList([nn.Linear(4, 4), nn.LogSoftmax(dim=0)])", "for layer in self.layers: h = layer(h)"),
    ("self.b = nn.Sequential(nn.Sequential(nn.Tanh(), Scaled()), nn.Linear(4, 1))", ""),
    # of each sample alone
    ("", "h = h - h.mean(1, keepdim=True)"),
    ("", "h = h / h.shape[1] + torch.arange(4) / 4"),
    ("self.register_buffer('places', torch.randn(1, 4))", "h = h + self.places[:, : h.size(1)]"),
    ("", "h = torch.zeros(x.size(0), 4) + h"),
    ("", "u = torch.zeros_like(h); for i in range(len(x)): u[i] = h[i].relu(); h = u"),
)
BEHIND = (  # what is set when the model is made
    "model.forward = types.MethodType(lambda self, x: self.b(self.centred(self.a(x))), model)",
    "model.a.forward = lambda x: F.linear(x, model.a.weight, model.a.bias) / len(x)",
)
BACKWARDS = (  # the custom function's two methods
    ("return x.sign()", "return g"),
    ("return x.sign()", "return F.hardtanh(g * 50) / 50"),
    ("return x * 1", "return g / (g.norm() + 1e-8)"),
    ("return x * 1", "return (g * 30).round() / 30"),
    ("return x - x.mean(0)", "return g - g.mean(0)"),
    ("ctx.save_for_backward(x); return x.clamp(min=0)", "x, = ctx.saved_tensors; return g * (x > 0)"),
)


def notebook(
    fields: str = "",
    forward: str = "",
    behind: str = "",
    step: tuple[str, str] = ("return x", "return g"),
    *,
    options: str = "",
) -> str:
    given, back = step
    net = filled(NET, given=given, back=back, fields=fields, forward=forward.replace("; ", "\n"), behind=behind)
    text = filled(CELLS, once=net, training=indent(STEP, "    "), show="", end="")
    text = text.replace("# %%\nfor epoch", f"# %%\n%%ddp_train {options}\nfor epoch") if options else text
    return (
        text.replace("@LIMIT@", "0")
        + "print(sum(p.detach().double().abs().sum().item() for p in model.parameters()))\n"
    )
