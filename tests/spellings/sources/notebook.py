"""The notebook around a source of batches, and a model, a habit or a kind of training."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

from tests.spellings.sources.batches import HEAD, SOURCES
from tests.spellings.sources.habits import HABITS, NET
from tests.spellings.sources.models import MODELS

SHOWN = "print(epoch, total / count)"
KINDS = {  # a heading for each, what it makes, and what a step does
    name: (made, step)
    for path in sorted(Path(__file__).with_name("kinds").glob("*.md"))
    for name, made, step in re.findall(
        r"## (\w+)\n\n```python\n(.*?)```\n\n```python\n(.*?)```", path.read_text(), re.DOTALL
    )
}


def trained(source: str, model: str) -> str:
    """A notebook that trains this model on batches from there."""
    made, loss = MODELS[model]
    step = f"{loss}\noptimizer.zero_grad()\nloss.backward()\noptimizer.step()\ntotal += loss.item()\ncount += 1"
    net = f"{made}\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    return _notebook(source, net, "", "total, count = 0.0, 0", step, SHOWN)


def inside(source: str, model: str) -> str:
    """The same with its loss in the forward of a model around."""
    made, loss = MODELS[model]
    taught = [name for name in ("model", "teacher") if re.search(rf"^{name} =", made, re.MULTILINE)]
    kept = "\n".join(f"self.{name} = {name}" for name in taught)
    for name in taught:
        loss = re.sub(rf"\b{name}([(\[])", rf"self.{name}\1", loss)
    forward = indent(f"{loss}\nreturn loss", " " * 8)
    whole = f"class Whole(nn.Module):\n    def __init__(self):\n        super().__init__()\n{indent(kept, ' ' * 8)}\n"
    whole += f"    def forward(self, x, y):\n{forward}\nwhole = Whole()\n"
    net = f"{made}\n{whole}optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    step = (
        "loss = whole(x, y)\noptimizer.zero_grad()\nloss.backward()\noptimizer.step()\ntotal += loss.item()\ncount += 1"
    )
    return _notebook(source, net, "", "total, count = 0.0, 0", step, SHOWN)


def of_kind(source: str, kind: str) -> str:
    """A notebook that trains as this kind does."""
    made, step = KINDS[kind]
    return _notebook(source, made, "", "total, count = 0.0, 0", step, SHOWN, model="net")


def kept(source: str, habit: str) -> str:
    """A notebook whose loop keeps something besides."""
    defined, before, begin, step, end = HABITS[habit]
    return _notebook(source, f"{NET}{defined}", before, begin, step, end)


def _notebook(source: str, net: str, before: str, begin: str, step: str, end: str, model: str = "model") -> str:
    data, loop = SOURCES[source]
    begin = f"feed = iter(loader)\n{begin}" if source == "next" else begin
    begin = f"np.random.shuffle(order)\n{begin}" if source == "nperm" else begin
    epoch = "\n".join([begin, loop, indent(step, "    "), end])
    weights = f"print(sum(p.detach().abs().sum().item() for p in {model}.parameters()))"
    training = f"{before}\nfor epoch in range(2):\n{indent(epoch, '    ')}\n{weights}\n"
    return f"{HEAD}{data}\n# %%\n{net}\n# %%\n%%ddp_train --exact\n{training}"
