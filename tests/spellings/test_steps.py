"""Losses by every dimension and order of the samples, and what a step does to the model besides: right or reported."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.spellings.judge import REPORTS, outcome
from tests.spellings.program import CELLS, by_slices, filled

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
ERRORS = "(out - b).pow(2)"
LOSSES = (
    # along the samples, by another number than 0
    *(f"{ERRORS}.{word}" for word in ("sum(-2).mean()", "mean(dim=-2).sum()", "std(-2).sum()", "amax(-2).sum()")),
    *(f"{ERRORS}.{word}" for word in ("cumsum(-2).mean()", "topk(2, dim=-2)[0].mean()", "sort(-2)[0].pow(3).mean()")),
    "(out - b - (out - b).mean(-2, keepdim=True)).pow(2).mean()",
    "torch.std_mean(out - b, dim=-2)[0].sum()",
    "torch.linalg.norm(out - b, dim=-2).sum()",
    "torch.logsumexp(out - b, -2).sum()",
    "(nn.functional.normalize(out, dim=-2) - b).pow(2).mean()",
    "(out.softmax(-2) * b).sum()",
    "(nn.Softmax(dim=0)(out) * b).sum()",
    # of one dimension
    "(nn.functional.softmax(out[:, 0], dim=-1) * b[:, 0]).sum()",
    "(out.squeeze().softmax(-1) * b.squeeze()).sum()",
    "(out - b).view(-1).cumsum(-1).pow(2).mean()",
    "(nn.Flatten(0)(out).softmax(-1) * b.flatten()).sum()",
    "(b[:, 0].sort(-1)[0] * out[:, 0]).mean()",
    "(b[:, 0].cumsum(-1) * out[:, 0]).mean()",
    # turned
    "(out - b).mT.std(1).sum()",
    "(out - b).transpose(-1, -2).std(1).sum()",
    "(out - b).transpose(-2, -1).mean(-1).pow(2).sum()",
    "(out - b).swapaxes(-1, -2).std(-1).sum()",
    "(out - b).permute(1, 0).mean(1).pow(2).sum()",
    "(out - b).movedim(0, 1).mean(1).pow(2).sum()",
    "torch.einsum('bi,bj', out - b, a).pow(2).mean()",
    "(out - b).T.std(1).sum()",
    "(out - b)[None].std(1).sum()",
    "(out - b).unsqueeze(0).mean(1).pow(2).sum()",
    "nn.functional.pairwise_distance(out.T, b.T).mean()",
    "nn.CosineSimilarity(dim=0)(out, b).sum()",
    "torch.stack([out, b]).std(1).sum()",
    "torch.stack([out, b]).mean(0).pow(2).mean()",
    "nn.functional.layer_norm(out, out.shape).pow(3).mean()",
    # in another order than that of the samples
    "(out - b[torch.arange(len(a)).flip(0)]).pow(2).mean()",
    "(out - b[list(range(len(a)))[::-1]]).pow(2).mean()",
    "(out - b[(torch.arange(len(a)) + 1) % len(a)]).pow(2).mean()",
    "(out - b[torch.argsort(b[:, 0])]).pow(2).mean()",
    "(out[:-1] - b[1:]).pow(2).mean()",
    "(out - b.flip(-2)).pow(2).mean()",
    "(out - torch.cat([b[1:], b[:1]])).pow(2).mean()",
    "smooth(out, b)",
    "criterion(Sorted()(a), b)",
    "criterion(Turned()(a), b)",
    *(
        f"criterion({name}()(a), b)"
        for name in ("Firsts", "Sized", "Deviating", "Guarded", "Weighed", "Placed", "Tabled")
    ),
    "criterion(topped(a), b)",
    "criterion(out.mean(0), b.mean(0))",
    "criterion(out.sum(0), b.sum(0))",
    "criterion(out + out.mean(), b)",
    "Neighbours()(out, b)",
    "Pairs()(out, b)",
    "(out[: len(a) // 2] - b[len(a) // 2 :]).pow(2).mean()",
    "sum(i * v.mean() for i, v in enumerate((out - b).pow(2)))",
    "out.index_fill(0, torch.tensor([0]), 0.0).pow(2).mean()",
    "(out - b).pow(2)[:3].sum()",
    "sum(criterion(p, q) for p, q in zip(out.split(2), b.split(2))) / 3",
    "criterion(*torch.cat([out, b]).chunk(2))",
    "out.gather(0, torch.zeros_like(b, dtype=torch.long)).mean() + loss",
    # with gradients that a hook sees
    "(out.register_hook(lambda g: g / g.norm()), loss)[1]",
    # of all samples
    "(nn.functional.batch_norm(out, None, None, training=True) - b).pow(2).mean()",
    "loss * len(torch.unique(b.sign()))",
    "(nn.LayerNorm(out.shape)(out) - b).pow(2).mean()",
    "(nn.BatchNorm1d(out.shape[1])(out) - b).pow(2).mean()",
    # with rows besides, that are no samples
    "torch.cat([out - b, model.weight[:, :1]]).pow(2).mean()",
    "torch.vstack([out - b, b.new_ones(1, 1)]).pow(2).mean()",
    "torch.stack([e.sum() for e in (out - b).pow(2)]).mean()",
    # divided by the size of a share
    "loss / len(b)",
    "criterion(out, b) / b.size(0) + 1 / len(b)",
    "sum(criterion(p, q) for p, q in zip(out.t(), b.t())) / len(b)",
    "(b.numel() - loss) * len(b)",
    # what a loss is given is of the batch as a whole
    "criterion(out.sort(0).values, torch.sort(b, dim=0)[0])",
    "criterion(out.max(0).values, b.max(0)[0])",
    "criterion(torch.cov(out.T), torch.cov(b.T))",
    "criterion(torch.exp(out.mean(0)), b.mean(0))",
    "criterion((out * 2)[1:], (b * 2)[1:])",
    # one sample after the other
    "sum(criterion(p, q) for p, q in zip(out, b))",
    "sum((p - q).abs().mean() for p, q in [(out[i], b[i]) for i in range(len(b))])",
    "torch.stack([criterion(p, q) for p, q in zip(out, b)]).mean()",
)
OFTEN = "range(min(3, int(loss) % 4))"
# What else a step does: before it, in the gradients, after it; and what is printed.
METER = """\
class Meter:
    def __init__(self):
        self.sum = 0.0
    def update(self, value):
        self.sum += value
meters = [Meter(), Meter()]
"""

STEPS = (
    ("n = 0.0", "", "z = torch.zeros(3)\nz[b.argmax() % 3] = 1\nn += z[0].item()", "n"),
    ("model.register_buffer('seen', torch.zeros(1))", "", "model.seen.copy_(loss.detach())", "model.seen.item()"),
    *(
        ("n = 0.0", "", f"if {test}: n += loss.item()", "n")
        for test in (
            "2 < len(a)",
            "not 2 >= len(a)",
            "1 < len(a) < 4",
            "len(a) in (2, 3)",
            "len(a) - 6",
            "all((len(a) > 3, len(b) > 2))",
            "a.shape == (6, 3)",
        )
    ),
    *(
        ("n = 0.0; log = []", "", f"for i, v in enumerate(b.flatten().tolist()):\n    {change}", "n, log")
        for change in ("n += i * v", "log.append((i, v))", "n += v if i % 2 else 0", "if i < 2: n += v", "n += v")
    ),
    (METER, "", "meters[int(b[0] > 0)].update(loss.item())", "[one.sum for one in meters]"),
    ("n, half = 0.0, lambda v: v / 2", "", "if half(len(a)) <= 1:\n    n += loss.item()", "n"),
    *(
        ("", "", f"with torch.no_grad():\n    {change}", "")
        for change in (
            "model.weight -= 0.001 * loss.item()",
            "model.weight.data[:] = model.weight * (1 - 0.001 * loss.item())",
            "model.state_dict()['weight'].sub_(0.001 * loss.item())",
            "torch.sub(model.weight, 0.001 * loss.item(), out=model.weight)",
            "torch._foreach_mul_(list(model.parameters()), 1 - 0.001 * loss.item())",
            "model.weight += 0.001 * a.mean(0)",
            "setattr(model, 'weight', nn.Parameter(model.weight - 0.001 * loss.item()))",
            "model.weight = nn.Parameter(model.weight - 0.001 * loss.item())",
            "w = model.weight\n    w -= 0.001 * loss.item()",
        )
    ),
    ("", "model.weight.grad = model.weight.grad * loss.item()", "", ""),
    ("", "", "sgd.step(loss.item())", ""),
    ("", "", "optimizer.state[model.weight]['momentum_buffer'] *= 1 - 0.1 * loss.item()", ""),
    ("s = 0.0", "s += out.grad.abs().sum().item()", "", "s"),
    ("s = 0.0", "s += (out.grad ** 2).sum().item()", "", "s"),
    *(
        ("n = 0; log = []; d = {}; s = ''", "", change, shown)
        for change, shown in (
            (f"[optimizer.step() for _ in {OFTEN}]", "n"),
            ("[optimizer.step() for k in range(3) if k < loss]", "n"),
            (f"any(optimizer.step() for _ in {OFTEN})", "n"),
            (f"list(map(lambda k: optimizer.step(), {OFTEN}))", "n"),
            (f"[model.weight.data.mul_(0.9) for _ in {OFTEN}]", "n"),
            (f"[log.append(1) for _ in {OFTEN}]", "len(log)"),
            (f"[n := n + 1 for _ in {OFTEN}]", "n"),
            (f"n += sum(1 for _ in {OFTEN})", "n"),
            (f"d.update({{k: 1 for k in {OFTEN}}})", "len(d)"),
            (f"s += ''.join('x' for _ in {OFTEN})", "s"),
            ("log.append(out[torch.argsort(b[:, 0])].detach())", "torch.cat(log).flatten().tolist()"),
            ("log.append(out[[2, 1, 0]].detach())", "torch.cat(log).flatten().tolist()"),
            ("log.append(out.detach().numpy()[::-1].copy())", "np.concatenate(log).flatten().tolist()"),
            ("log.extend(out.detach().numpy()[np.argsort(b[:, 0].numpy())].flatten().tolist())", "log"),
            ("n += sum(itertools.islice(out.flatten().tolist(), 2))", "n"),
            ("log.extend(sorted(out.flatten().tolist()))", "log"),
            ("log.append(tuple(a.shape))", "log"),
            ("log += [0] * len(a)", "log"),
            ("log.append(loss.item())\nn = sorted(log)[len(log) // 2]", "n"),
            ("d[len(a)] = d.get(len(a), 0) + 1", "d"),
            ("d.update(collections.Counter((b > 0).flatten().tolist()))", "sorted(d.items())"),
            ("n += len(set((b > 0).flatten().tolist()))", "n"),
            ("n += len(list(itertools.zip_longest(a, range(4))))", "n"),
            ("for i in range(1, len(b)): n += (b[i] - b[i - 1]).abs().item()", "n"),
            ("for p, q in zip(b, b[1:]): n += (p - q).abs().item()", "n"),
            ("n += b[torch.arange(2)].sum().item()", "n"),
            ("log_of(1).append(b.max().item())", "log_of(1)"),
            ("rows = log or Rows()\nrows(b.mean().item())\nlog = rows", "max(log)"),
            ("if d.get('n') is not None: n += len(a) - d['n']\nd['n'] = len(a)", "n"),
            ("log.extend(reversed(out.flatten().tolist()))", "log"),
            ("n += np.average((out - b).detach().numpy(), weights=a[:, :1].abs().numpy())", "n"),
        )
    ),
    # what is told of one sample after the other
    ("n = 0.0", "", "for v in b: n += v.mean().item()", "n"),
    ("n = 0.0", "", "for v in b: n = v.mean().item()", "n"),
    ("n = 0.0", "", "for v in b:\n    for w in b: n += (v - w).abs().mean().item()", "n"),
    ("n = 0.0", "", "n = sum(map(lambda v: v.mean().item(), b))", "n"),
    ("n = 0.0", "", "for v, w in zip(b, b[1:]): n += v.mean().item()", "n"),
    ("n = 0.0; log = []", "", "for v in b:\n    n += len(log)\n    log.append(v.sum().item())", "n, log"),
    # and of some of them
    ("n = 0", "", "for v in list(b)[::2]: n += v.numel()", "n"),
    ("n = 0", "", "t = b * 2\nn += len(t[:2]) + t[1:].size(0)", "n"),
    ("n = 0.0", "", "with torch.no_grad(): n += b[b > 0].mean().item()", "n"),
    ("n = 0.0", "", "t = b * 2\nwith torch.no_grad(): n += t[1:].mean().item() + t[0].mean().item()", "n"),
    ("n = 0.0", "", "with torch.no_grad(): n += (out[b > 0] > 0).float().mean().item()", "n"),
)


# Where the shares are unequal, over batches that are split.
MEAN = """\
class Mean:
    def __init__(self):
        self.sum = self.n = 0
    def update(self, value, n):
        self.sum += value * n
        self.n += n
    @property
    def mean(self):
        return self.sum / self.n
meter = Mean()
"""
UNEQUAL = (
    ("", "model.weight.grad /= len(a)", "", ""),
    (MEAN, "", "meter.update(loss.item(), len(a))\nprint(meter.mean)", "meter.n"),
    ("counting = Counting()", "", "loss = counting(model(a), b)\nloss.backward()\noptimizer.step()", ""),
)


def verdict(folder: Path, before: str, mid: str, grad: str, each: str, shown: str, *, split: bool = False) -> str:
    steps = filled(STEP, mid=indent(mid, "    "), grad=indent(grad, "    "), each=indent(each, "    "))
    end = f"print({shown})" if shown else ""
    text = filled(CELLS, once=ONCE, training=indent(f"{before}\n{steps}{end}", "    "), show="", end="")
    text = text.replace("@LIMIT@", "0") + "print(model.weight.detach().sum().item())\n"
    text = by_slices(text) if split else text
    found = outcome(text, (1, 2, 3), folder, cell=2, rules=(*REPORTS, "loss"))
    return found.why if found.verdict == "WRONG" else ""


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss(loss: str, tmp_path: Path) -> None:
    assert not verdict(tmp_path, "", f"loss = {loss}", "", "", "")


@pytest.mark.parametrize(("before", "grad", "each", "shown"), STEPS)
def test_what_a_step_does_besides(before: str, grad: str, each: str, shown: str, tmp_path: Path) -> None:
    assert not verdict(tmp_path, before, "", grad, each, shown)


@pytest.mark.parametrize(("before", "grad", "each", "shown"), UNEQUAL)
def test_unequal_shares(before: str, grad: str, each: str, shown: str, tmp_path: Path) -> None:
    assert not verdict(tmp_path, before, "", grad, each, shown, split=True)
