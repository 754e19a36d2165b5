"""Cells as a test writes them, and what the analysis makes of them. None of it is run, so none of it needs torch."""

from __future__ import annotations

import ast
from textwrap import dedent
from typing import TypeVar

from nbddp.analysis import Plan, make_plan
from nbddp.analysis.evaluator import run_statement
from nbddp.analysis.reading.interpret import STEPS
from nbddp.analysis.slicing.slice import Flow, build_flow
from nbddp.analysis.syntax.program import Program, build_program
from nbddp.analysis.syntax.qualified_names import imported_names
from nbddp.analysis.values import Machine
from nbddp.analysis.values.domain import Extent, spread
from nbddp.notebook import Notebook, notebook_from_percent
from nbddp.options import Options

IMPORTS = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
"""

DATA = """
train_set = TensorDataset(torch.randn(100, 8), torch.randint(0, 2, (100,)))
test_set = TensorDataset(torch.randn(21, 8), torch.randint(0, 2, (21,)))
train_loader = DataLoader(train_set, batch_size=10, shuffle=True)
test_loader = DataLoader(test_set, batch_size=10)
"""

MODEL = """
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""

TRAINING = """
for epoch in range(3):
    for x, y in train_loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

BEFORE = (IMPORTS, DATA, MODEL)

Node = TypeVar("Node", bound=ast.AST)


def notebook(*cells: str) -> Notebook:
    """In percent format, a cell each; one that begins with a marker keeps it."""
    texts = [dedent(cell).strip("\n") for cell in cells]
    marked = (text if text.startswith("# %%") else f"# %%\n{text}" for text in texts)
    return notebook_from_percent("\n\n".join(marked) + "\n", "test.py")


def program(*cells: str) -> Program:
    return build_program(notebook(*cells))


def flow(*cells: str) -> Flow:
    return build_flow(program(*cells))


def plan(*cells: str, options: Options | None = None) -> Plan:
    return make_plan(notebook(*cells), options or Options())


def nodes(of: Plan | Program, kind: type[Node], source: str) -> list[Node]:
    """Every node of a kind with this text, in the order of the text."""
    program = of.program if isinstance(of, Plan) else of
    found = [n for n in ast.walk(program.tree) if isinstance(n, kind) and hasattr(n, "lineno")]
    found = [n for n in found if program.source(n) == source]
    return sorted(found, key=lambda n: (n.lineno, n.col_offset))  # type: ignore[attr-defined]


def node(of: Plan | Program, kind: type[Node], source: str) -> Node:
    """The last of them."""
    return nodes(of, kind, source)[-1]


def extent(of: Plan, source: str) -> Extent:
    """Of the last expression with this text."""
    return spread(of.facts.value(node(of, ast.expr, source)))


def batch(*lines: str) -> str:
    """A training cell that has these lines in its loop over the batches."""
    inner = "\n".join(f"        {line}" for line in lines)
    return TRAINING.rstrip("\n") + f"\n{inner}\n"


def evaluation(before: str, inside: str, after: str) -> str:
    """A training cell that evaluates after each epoch, without gradients."""
    loop = [
        "with torch.no_grad():",
        "    for x, y in test_loader:",
        *(f"        {line}" for line in inside.split("\n")),
    ]
    lines = [before, *loop, *after.split("\n")]
    return TRAINING.rstrip("\n") + "\n" + "\n".join(f"    {line}" for line in lines if line) + "\n"


def seen(source: str, *lines: str, before: str = "") -> Extent:
    """The extent of an expression among these lines in the loop over the training's batches."""
    return extent(plan(*BEFORE, *([before] if before else []), batch(*lines)), source)


def evaluations(*cells: str) -> int:
    """How many statements and calls one run in the abstract goes through."""
    made = program(*cells)
    machine = Machine(made, imported_names(made.nodes), STEPS)
    for statement in made.statements:
        machine.at = statement.node
        run_statement(machine, statement.node)
    assert machine.facts.exhausted is None
    return machine.ticks
