"""Several backward passes through one forward."""

from __future__ import annotations

import pytest

from nbddp.analysis.models.repeated_backward import several_backwards
from tests.analysis.cells import DATA, IMPORTS, MODEL, plan

STEP = """
def step(loss):
    loss.backward()
    return loss.item()
class State:
    def keep(self, out):
        self.out = model(out).sum()
    def keep_other(self, out):
        self.other = model(out).mean()
kept = State()
"""


def wrong(*lines: str) -> bool:
    body = "\n".join(f"        {line}" for line in ("optimizer.zero_grad()", *lines, "optimizer.step()"))
    cell = f"state = torch.zeros(1)\nfor epoch in range(3):\n    for x, y in train_loader:\n{body}\n"
    made = plan(IMPORTS, DATA, MODEL, STEP, cell)
    (model,) = made.roles.models
    return several_backwards(made, model)


@pytest.mark.parametrize(
    "lines",
    [
        ("out = model(x)", "out.sum().backward(retain_graph=True)", "out.mean().backward()"),
        ("a = model(x)", "b = model(x + 1)", "a.sum().backward()", "b.sum().backward()"),
        ("out = model(x + state)", "state = out.mean()", "out.sum().backward()"),
        ("outs = []", "outs.append(model(x))", "outs.append(model(x))", "for o in outs:", "    o.sum().backward()"),
        ("out = model(x)", "step(out.sum())", "step(out.mean())"),
        ("kept.out = model(x)", "kept.out.sum().backward(retain_graph=True)", "kept.out.mean().backward()"),
        ("kept.keep(x)", "kept.keep_other(x)", "kept.out.backward()", "kept.other.backward()"),
        ("kept.out = model(x)", "other = model(x + 1)", "other.sum().backward()", "step(kept.out.sum())"),
    ],
)
def test_ddp_would_average_the_first_only(lines):
    assert wrong(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("loss = F.cross_entropy(model(x), y)", "loss.backward()"),
        ("a = model(x)", "b = model(x + 1)", "(a + b).sum().backward()"),
        ("model(x).sum().backward()", "model(x + 1).sum().backward()"),
        ("out = model(x + state)", "state = out.mean().detach()", "out.sum().backward()"),
        ("out = model(x)", "seen = out.mean().item()", "out.sum().backward()", "print(seen)"),
        ("x = model(x)", "F.cross_entropy(x, y).backward()"),
        ("with torch.no_grad():", "    first = model(x)", "model(x).sum().backward()"),
        ("if epoch:", "    model(x).sum().backward()", "else:", "    model(x).mean().backward()"),
        ("step(model(x).sum())", "step(model(x).mean())"),
        ("kept.keep(x)", "kept.keep_other(x)", "(kept.out + kept.other).backward()"),
        ("kept.out = model(x)", "kept.loss = F.cross_entropy(kept.out, y)", "kept.loss.backward()"),
    ],
)
def test_one_backward_for_each_forward(lines):
    assert not wrong(*lines)
