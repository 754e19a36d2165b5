"""Notebooks of one shape, drawn out to any size: a plain training after code that a compiler may be slow or deep at."""

from __future__ import annotations

from collections.abc import Callable

TRAINING = (
    """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
train_set = TensorDataset(torch.randn(1000, 8), torch.randn(1000, 1))
loader = DataLoader(train_set, batch_size=50, shuffle=True)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)""",
    """for epoch in range(3):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y) * scale
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()""",
)


Cells = Callable[[int], list[str]]


def calling_thrice(size: int) -> list[str]:
    """Functions that each call the one before three times."""
    return [f"def f{n}(x):\n    return f{n - 1}(x) + f{n - 1}(x) + f{n - 1}(x)" for n in range(1, size)]


def call_chain(size: int) -> list[str]:
    return [f"def f{n}(x):\n    return f{n - 1}(x) + 1" for n in range(1, size)]


def _called(functions: Cells) -> Cells:
    def cells(size: int) -> list[str]:
        return _around(["def f0(x):\n    return x * 2", *functions(size)], f"scale = f{size - 1}(0.1)")

    return cells


def nested_loops(size: int) -> list[str]:
    lines = ["scale = 1.0"]
    lines += [f"{'    ' * depth}for i{depth} in range(2):" for depth in range(size)]
    lines += [f"{'    ' * size}scale = scale + 0.1"]
    return _around(["\n".join(lines)])


def grid_search(size: int) -> list[str]:
    """A training in loops over lists that are written out."""
    loops = [f"{'    ' * n}for rate{n} in [0.1, 0.2, 0.3, 0.4]:" for n in range(size)]
    turn = [*TRAINING[0].split("\n")[-2:], *TRAINING[1].split("\n"), "print(loss.item())"]
    return [TRAINING[0], "scale = 1.0", "\n".join([*loops, *("    " * size + line for line in turn)])]


def looping_chain(size: int) -> list[str]:
    """Functions that each call the one before in a loop."""
    one = "def f{n}(x):\n    for k in range(3):\n        y = {'x': f{m}(x + k)}\n    return y['x']"
    return [one.replace("{n}", str(n)).replace("{m}", str(n - 1)) for n in range(1, size)]


def many_cells(size: int) -> list[str]:
    cell = "column_{n} = [row * {n} for row in range(9)]\nscale = scale + sum(column_{n})"
    return _around(["scale = 1.0", *(cell.replace("{n}", str(n)) for n in range(size))])


def many_elif(size: int) -> list[str]:
    tests = [f"elif kind == {n}:\n    scale = {n}.0" for n in range(size)]
    return _around(["\n".join(["import sys", "kind = len(sys.argv)", "if kind < 0:", "    scale = 0.5", *tests])])


def many_terms(size: int) -> list[str]:
    return _around(["a = 1.0", "scale = " + " + ".join(["a"] * size)])


def nested_parentheses(size: int) -> list[str]:
    return _around(["a = 1.0", "scale = " + "(a + " * size + "a" + ")" * size])


def nested_calls(size: int) -> list[str]:
    return _around(["scale = " + "abs(" * size + "1.0" + ")" * size])


def many_counters(size: int) -> list[str]:
    """In an evaluation, whose batches are dealt out: what is counted there is followed name by name."""
    zeros = [f"c{n} = 0" for n in range(size)]
    counts = [f"        c{n} += (model(x) > {n}).sum().item()" for n in range(size)]
    loop = ["model.eval()", "with torch.no_grad():", "    for x, y in loader:", *counts, f"print(c0, c{size - 1})"]
    return [TRAINING[0], "\n".join(["scale = 1.0", *zeros]), "\n".join([TRAINING[1], *loop])]


def _around(before: list[str], *then: str) -> list[str]:
    return [TRAINING[0], *before, *then, TRAINING[1]]


# The sizes that are measured: the largest is what an export must do in a second.
SHAPES: dict[str, tuple[Cells, tuple[int, ...]]] = {
    "functions, each calling the one before thrice": (_called(calling_thrice), (3, 6, 12)),
    "functions in a call chain": (_called(call_chain), (75, 150, 300)),
    "functions in a call chain, each with a loop": (_called(looping_chain), (10, 20, 40)),
    "loops in each other": (nested_loops, (5, 10, 20)),  # more is no Python
    "a training in loops over lists": (grid_search, (4, 8, 16)),
    "cells": (many_cells, (125, 250, 500)),
    "elif": (many_elif, (375, 750, 1500)),
    "counters of an evaluation": (many_counters, (25, 50, 100)),
    "terms of a sum": (many_terms, (250, 500, 1000)),
    "parentheses in each other": (nested_parentheses, (48, 96, 192)),
    "calls in each other": (nested_calls, (48, 96, 192)),
}
