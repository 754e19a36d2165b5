"""The notebook around a source of batches, and a model or a habit."""

from __future__ import annotations

from textwrap import indent

from tests.spellings.sources.batches import HEAD, SOURCES
from tests.spellings.sources.habits import HABITS, NET
from tests.spellings.sources.models import MODELS


def trained(source: str, model: str) -> str:
    """A notebook that trains this model on batches from there."""
    made, loss = MODELS[model]
    step = f"{loss}\noptimizer.zero_grad()\nloss.backward()\noptimizer.step()\ntotal += loss.item()\ncount += 1"
    net = f"{made}\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
    return _notebook(source, net, "", "total, count = 0.0, 0", step, "print(epoch, total / count)")


def kept(source: str, habit: str) -> str:
    """A notebook whose loop keeps something besides."""
    defined, before, begin, step, end = HABITS[habit]
    return _notebook(source, f"{NET}{defined}", before, begin, step, end)


def _notebook(source: str, net: str, before: str, begin: str, step: str, end: str) -> str:
    data, loop = SOURCES[source]
    begin = f"feed = iter(loader)\n{begin}" if source == "next" else begin
    begin = f"np.random.shuffle(order)\n{begin}" if source == "nperm" else begin
    epoch = "\n".join([begin, loop, indent(step, "    "), end])
    weights = "print(sum(p.detach().abs().sum().item() for p in model.parameters()))"
    training = f"{before}\nfor epoch in range(2):\n{indent(epoch, '    ')}\n{weights}\n"
    return f"{HEAD}{data}\n# %%\n{net}\n# %%\n%%ddp_train --exact\n{training}"
