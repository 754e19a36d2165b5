"""Statements that train: a backward pass and a step in a loop, here or in what is called."""

from __future__ import annotations

import pytest

from nbddp.analysis.training.training_statements import framework, training_statements
from tests.analysis.cells import flow

LOOP = "for k in range(3):\n    loss.backward()\n    optimizer.step()"
STEP = "def step():\n    loss.backward()\n    optimizer.step()\n"

KEPT = """class T:
    def __init__(self):
        self.run = self.make()
    def make(self):
        def step(x):
            loss.backward()
            optimizer.step()
        return step
t = T()"""


def trains(*cells: str) -> list[int]:
    """The cells of the statements that do."""
    return [s.cell.number for s in training_statements(flow(*cells))]


@pytest.mark.parametrize(
    "cells",
    [
        (LOOP,),
        (STEP, "for k in range(3):\n    step()"),
        (STEP + "def fit():\n    for k in range(3):\n        step()", "fit()"),
        (STEP + "go = step", "for k in range(3):\n    go()"),
        ("class T:\n    def step_all(self):\n        loss.backward()\n        optimizer.step()\nt = T()",
         "for k in range(3):\n    t.step_all()"),
        ("def closure():\n    loss.backward()\n", "for k in range(3):\n    optimizer.step(closure)"),
        (KEPT, "for k in range(3):\n    t.run(x)"),
        ("while True:\n    loss.backward()\n    w.data -= 0.1 * w.grad",),
        ("for k in range(3):\n    g = torch.autograd.grad(loss, w)\n    w = w - g[0]",),
    ],
)  # fmt: skip
def test_these_train(cells):
    assert trains(*cells) == [len(cells)]


ATTACK = "for x, y in loader:\n    loss.backward()\n    x = moved + 0.1 * x.grad.sign()"


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ((LOOP, ATTACK.replace("x =", "adversarial =")), [1]),
        ((ATTACK.replace("x =", "adversarial ="),), [1]),  # nothing else trains
        ((LOOP, ATTACK), [1, 2]),
        (("def step(net):\n    print(net)", "step(net)", STEP, "for k in range(3):\n    step()"), [4]),
        ((STEP, "for k in range(3):\n    step()", "def step():\n    pass", "for k in range(3):\n    step()"), [2]),
        (("step, rest = halves(data)", "print(step)\nuse(step)", STEP, "for k in range(3):\n    step()"), [4]),
        ((STEP, "step = torch.compile(step)", "for k in range(3):\n    step()"), [3]),
    ],
)  # fmt: skip
def test_of_several_cells(cells, found):
    assert trains(*cells) == found


@pytest.mark.parametrize(
    "cells",
    [
        ("loss.backward()",),
        ("import engine, torch\no = torch.optim.SGD(w)\nloss.backward()\no.step()\nengine.train(o)",),
        ("for k in range(3):\n    loss.backward()",),
        ("for k in range(3):\n    optimizer.step()",),
        (f"def fit():\n    {LOOP.replace(chr(10), chr(10) + '    ')}",),
        ("for k in range(3):\n    'a'.backward()\n    optimizer.step()",),
        (STEP, "run = partial(step, 1)\nfor k in range(3):\n    print(k)"),
        ('# %% tags=["ddp-skip"]\n' + LOOP,),
        (STEP, "for k in range(3):\n    setattr(T, 'step', step)"),
        (
            "class T:\n    def train(self, n):\n        loss.backward()\n        optimizer.step()\n",
            "for k in range(3):\n    t.model.train()",
        ),
    ],
)
def test_these_do_not(cells):
    assert trains(*cells) == []


def test_where_no_loop_trains_a_step_outside_of_loops_does():
    assert trains("loss.backward()\noptimizer.step()") == [1, 1]
    assert trains(STEP, "step()", "print(loss)") == [2]
    assert trains("def closure():\n    loss.backward()", "optimizer.step(closure)") == [2]
    assert trains("class T:\n    def go(self):\n        loss.backward()\nt = T()", "optimizer.step(t.go)") == [2]
    assert trains("loss.backward()\noptimizer.step()", LOOP) == [2]


def test_where_something_steps_taking_gradients_is_no_training():
    attack = "for k in range(3):\n    g = torch.autograd.grad(loss, x)\n    x = x + g[0]"
    assert trains("import torch", attack) == [2]
    assert trains("import torch", attack, LOOP) == [3]
    slope = "def slope(f, x):\n    f(x).backward()\n    return x.grad"
    assert trains(slope, "for f in functions:\n    plot(slope(f, x))", LOOP) == [3]


@pytest.mark.parametrize(
    ("line", "name"),
    [("import lightning as L", "Lightning"), ("from transformers import Trainer", "the Hugging Face Trainer"),
     ("from transformers import AutoModel", None), ("import torch", None)],
)  # fmt: skip
def test_the_framework_by_its_name_for_people(line, name):
    assert framework(flow(line)) == name
