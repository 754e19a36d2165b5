"""A step in a function: how it gives its loss and a number beside it, what it keeps, and what is read of it."""

from __future__ import annotations

import itertools
from textwrap import indent

KINDS = """import types
from collections import namedtuple
from dataclasses import dataclass
Given = namedtuple("Given", "loss miss")
@dataclass
class Row:
    loss: torch.Tensor
    miss: torch.Tensor
class Meter:
    def __init__(self):
        self.sum = self.n = 0
    def update(self, value, n=1):
        self.sum += value * n
        self.n += n
        self.average = self.sum / self.n
class Step:
    pass
def note(value, n):
    meter.update(value, n)
log, kept, meter, step = [], {"last": [], "sum": 0.0, "seen": 0.0}, Meter(), Step()"""
GIVEN = {  # what the function gives, and how the loss and the other number are read
    "a tuple": ("return loss, miss", "loss, miss = of(a, b)", "loss", "miss"),
    "a tuple under one name": ("return loss, miss", "got = of(a, b)", "got[0]", "got[1]"),
    "a dict": ("return {'loss': loss, 'miss': miss}", "got = of(a, b)", "got['loss']", "got['miss']"),
    "dict()": ("return dict(loss=loss, miss=miss)", "got = of(a, b)", "got['loss']", "got['miss']"),
    "a dict beside it": (
        "return loss, {'miss': miss.item()}",
        "loss, got = of(a, b)",
        "loss",
        "torch.tensor(got['miss'])",
    ),
    "a list": ("return [loss, miss]", "loss, miss = of(a, b)", "loss", "miss"),
    "a named tuple": ("return Given(loss, miss)", "got = of(a, b)", "got.loss", "got.miss"),
    "a row": ("return Row(loss, miss)", "got = of(a, b)", "got.loss", "got.miss"),
    "a namespace": ("return types.SimpleNamespace(loss=loss, miss=miss)", "got = of(a, b)", "got.loss", "got.miss"),
    "fields": ("step.loss, step.miss = loss, miss\n    return step", "got = of(a, b)", "got.loss", "step.miss"),
    "fields alone": ("step.loss, step.miss = loss, miss", "of(a, b)", "step.loss", "step.miss"),
    "a count": (
        "return loss, len(x)",
        "loss, n = of(a, b)\nkept['seen'] += loss.item() * n",
        "loss",
        "loss",
    ),
    "a sum and a count": (
        "return loss, loss.item() * len(x), len(x)",
        "loss, part, n = of(a, b)\nkept['seen'] += part / 2 + n",
        "loss",
        "loss",
    ),
    "a number beside it": ("return loss, miss.item()", "loss, miss = of(a, b)", "loss", "torch.tensor(miss)"),
}
KEPT = {  # in the function
    "nothing": ("pass", "0"),
    "in a list": ("log.append(loss.item())", "sum(log)"),
    "in a list of a dict": ("kept['last'].append(miss.item())", "sum(kept['last'])"),
    "in an average": ("meter.update(loss.item(), len(x))", "meter.average"),
    "in a meter": ("meter.update(loss.item(), len(x))", "meter.sum / meter.n"),
    "in a sum": ("kept['sum'] += loss.item() * x.size(0)", "kept['sum'] / 24"),
    "by another function": ("note(loss.item(), x.shape[0])", "meter.sum / meter.n"),
    "in a field": ("step.last = loss.item()", "step.last"),
    "printed": ("print(loss.item())", "0"),
}
LATER = {  # after the step
    "nothing": ("pass", "0"),
    "both in a list": ("pairs.append((LOSS.item(), MISS.item()))", "[sum(column) for column in zip(*pairs)]"),
    "a sum": ("total += LOSS.item() * len(a)", "total / 24"),
    "the last": ("pass", "LOSS.item(), MISS.item()"),
}
BACK = {"outside": ("", "LOSS.backward()"), "inside": ("loss.backward()", "pass")}

EVERY = [*itertools.product(GIVEN, KEPT, LATER, BACK)]
EACH = [one for at, one in enumerate(EVERY) if at % 23 == 0]  # every way to give, to keep, to read and to go back


def handed(given: str, kept: str, later: str, back: str) -> tuple[str, str, str]:
    """What is written once, what replaces a step, and what is printed after an epoch."""
    gives, call, loss, miss = GIVEN[given]
    keeps, held = KEPT[kept]
    then, after = LATER[later]
    inside, outside = BACK[back]
    made = "loss = criterion(model(x), t)\nmiss = (model(x) - t).abs().mean()"
    body = "\n".join(part for part in (made, inside, keeps, gives.replace("\n    ", "\n")) if part)
    once = f"{KINDS}\ndef of(x, t):\n{indent(body, '    ')}"
    step = f"optimizer.zero_grad()\n{call}\n{outside}\noptimizer.step()\n{then}"
    words = {"LOSS": loss, "MISS": miss}
    for word, said in words.items():
        step, after = step.replace(word, said), after.replace(word, said)
    return once, step, f"{held}, {after}, kept['seen']"


def notebook(given: str, kept: str, later: str, back: str, options: str = "") -> str:
    once, step, shown = handed(given, kept, later, back)
    return "\n".join((
        "# %%", "import torch", "from torch import nn", "torch.manual_seed(0)",
        "x = torch.randn(24, 3) * torch.linspace(0.3, 2.5, 24)[:, None]",
        "y = x.sum(1, keepdim=True) + torch.randn(24, 1)",
        "model = nn.Linear(3, 1)", "criterion = nn.MSELoss()",
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.01)", once, "# %%", f"%%ddp_train {options}",
        "for epoch in range(2):", "    pairs, total = [], 0.0", "    for start in range(0, 24, 7):",
        "        a, b = x[start : start + 7], y[start : start + 7]", indent(step, "        "),
        f"    print({shown})", "print(model.weight.detach().sum().item())", "",
    ))  # fmt: skip
