"""A number, how it is kept and how it is shown, put together to a notebook that trains."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from textwrap import indent

from tests.spellings.kept import KEPT, Kept
from tests.spellings.shown import SHOWN, Show

CELLS = """# %%
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
LIMIT = @LIMIT@
x = torch.randn(24, 3) * torch.linspace(0.3, 2.5, 24)[:, None]
y = x.sum(1, keepdim=True) + torch.randn(24, 1)
train_loader = DataLoader(TensorDataset(x, y), batch_size=6)
test_loader = DataLoader(TensorDataset(x[:13], y[:13]), batch_size=6)
model = nn.Linear(3, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
# %%
@once@
# %%
for epoch in range(2):
@training@
@show@
@end@
"""
STEP = """for a, b in train_loader:
    optimizer.zero_grad()
    loss = criterion(model(a), b)
    loss.backward()
    optimizer.step()
"""
TRAINED = "@before@\n" + STEP + "@each@\n@after@\n"
EVALUATED = (
    STEP
    + """@before@
model.eval()
with torch.no_grad():
    for a, b in test_loader:
        loss = criterion(model(a), b)
    @each@
@after@
model.train()
"""
)


@dataclass(frozen=True)
class Number:
    """Of a batch, in a training loop or in an evaluation of 13 samples in batches of 6."""

    title: str
    expression: str
    loop: str
    limit: float = 5


NUMBERS = (
    Number("the loss of a training step", "loss.item()", TRAINED, 7),
    Number("hits of a training step", "(model(a) > b).sum().item()", TRAINED, 2),
    Number("the loss of an evaluation", "loss.item()", EVALUATED, 4),
    Number("hits of an evaluation", "(model(a) > b).sum().item()", EVALUATED, 2),
    Number("the summed loss of an evaluation", "loss.item() * len(a)", EVALUATED, 14),
)


@dataclass(frozen=True)
class Spelling:
    number: Number
    kept: Kept
    shown: Show

    @property
    def title(self) -> str:
        return f"{self.number.title}, {self.kept.title}, {self.shown.title}"

    @property
    def possible(self) -> bool:
        return self.kept.kind == "number" or not self.shown.numbers

    def notebook(self) -> str:
        kept, shown = self.kept, self.shown
        body = filled(self.number.loop, before=kept.before, each=indent(kept.each, "    "), after=kept.after)
        once = "\n".join(part for part in (kept.once, shown.once) if part) or "pass"
        text = filled(CELLS, once=once, training=indent(body, "    "), show=indent(shown.each, "    "), end=shown.end)
        text = text.replace("NUMBER", self.number.expression).replace("RESULT", kept.result)
        return text.replace("@LIMIT@", str(self.number.limit))


def filled(template: str, **parts: str) -> str:
    """Each part where its name stands alone on a line, as deep as that stands."""
    lines = []
    for line in template.split("\n"):
        name = line.strip().strip("@")
        if line.strip() == f"@{name}@" and name in parts:
            depth = line[: len(line) - len(line.lstrip())]
            lines += [indent(parts[name], depth)] if parts[name] else []
        else:
            lines.append(line)
    return "\n".join(lines)


def needed(once: str, by: str) -> str:
    """The definitions out of these that a program names, and those that they name.

    Reading the others would take longer than the rest of such a test.
    """
    lines, words, kept = once.split("\n"), set(re.findall(r"\w+", by)), set[tuple[int, int]]()
    spans = {(min(n.lineno, *(d.lineno for d in getattr(n, "decorator_list", [n]) or [n])) - 1, n.end_lineno or 0): n
             for n in ast.parse(once).body}  # fmt: skip
    while more := {span for span, node in spans.items() if span not in kept and _binds(node) & words}:
        kept |= more
        words |= {word for first, end in more for word in re.findall(r"\w+", "\n".join(lines[first:end]))}
    return "\n".join("\n".join(lines[first:end]) for first, end in sorted(kept))


def _binds(node: ast.stmt) -> set[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names):
            return {alias.asname or alias.name for alias in names}
        case ast.Assign(targets=targets):
            return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    raise TypeError(ast.dump(node))


def by_slices(text: str) -> str:
    """The same training without a loader: batches of seven, the last of three, that no number of ranks divides."""
    cut = r"\1for start in range(0, 24, 7):\n\1    a, b = x[start : start + 7], y[start : start + 7]\n"
    return re.sub(r"^( *)for a, b in train_loader:\n", cut, text, flags=re.MULTILINE)


def every() -> list[Spelling]:
    spellings = [Spelling(number, kept, shown) for number in NUMBERS for kept in KEPT for shown in SHOWN]
    return [spelling for spelling in spellings if spelling.possible]
