"""Where a model is sharded, and which calls put its parts together."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.models import gathers, is_sharded_at, loaded_states
from nbddp.options import Options
from tests.analysis.cells import DATA, IMPORTS, TRAINING, plan

MODEL = "model = nn.Linear(8, 2)\nother = nn.Linear(2, 2)"
OPTIMIZER = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"


def made(*cells: str, after: str = "") -> Plan:
    return plan(IMPORTS, DATA, *cells, TRAINING + after, options=Options(shard=True))


def calls_in(found: Plan, text: str) -> list[ast.Call]:
    return [n for n in found.facts.calls if found.program.source(n) == text]


@pytest.mark.parametrize(
    ("cells", "call", "is_sharded"),
    [
        ((f"{MODEL}\nmodel.eval()", OPTIMIZER), "model.eval()", False),
        ((MODEL, f"{OPTIMIZER}\nmodel.eval()"), "model.eval()", True),
        ((MODEL, f"{OPTIMIZER}\nmodel.load_state_dict({{}})"), "model.load_state_dict({})", True),
        ((f"{MODEL}; {OPTIMIZER}",), "model.parameters()", True),
        (("def build():\n    net = nn.Linear(8, 2)\n    return net, torch.optim.SGD(net.parameters(), lr=0.1)",
          "model, optimizer = build()"), "net.parameters()", True),
    ],
)  # fmt: skip
def test_a_model_is_sharded_once_it_is_complete(cells, call, is_sharded):
    found = made(*cells)
    assert [is_sharded_at(found, node.func, found.wrapping.homes) for node in calls_in(found, call)] == [is_sharded]


@pytest.mark.parametrize(
    ("call", "is_gathered"),
    [
        ("model.state_dict()", True),
        ("optimizer.load_state_dict({})", True),
        ("model(torch.ones(1, 8))", True),
        ("other.state_dict()", False),
        ("other(torch.ones(1, 2))", False),
        ("model.eval()", False),
    ],
)
def test_all_ranks_come_to_what_puts_parts_together(call, is_gathered):
    found = made(MODEL, OPTIMIZER, after=f"print({call})")
    assert [gathers(found, node) for node in calls_in(found, call)] == [is_gathered]
    without = plan(IMPORTS, DATA, MODEL, OPTIMIZER, f"{TRAINING}print({call})")
    assert [gathers(without, node) for node in calls_in(without, call)] == [False]


def test_states_that_are_loaded():
    loads = 'saved = torch.load("a.pt")\nmodel.load_state_dict(saved["m"])\nprint(torch.load("b.pt"))'
    found = made(MODEL, OPTIMIZER, loads, 'optimizer.load_state_dict(torch.load("c.pt"))')
    assert [found.program.source(call.node.args[0]) for call in loaded_states(found)] == ['"a.pt"', '"c.pt"']
