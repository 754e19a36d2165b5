"""The live thing that a plan speaks of; where it is not sure, none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nbddp.inkernel.live_objects import find
from tests.analysis.cells import BEFORE, DATA, IMPORTS, TRAINING, plan

HOLDER = "class T:\n    def __init__(self):\n        self.net = nn.Linear(8, 2)\nt = T()\n"
BUILT = "optimizer = torch.optim.SGD({}.parameters(), lr=0.1)\n"


def found(cells: tuple[str, ...], namespace: dict[str, Any]) -> Any:
    made = plan(*cells)
    return find(made, namespace, made.roles.models[0].obj)


def test_by_its_name():
    assert found((*BEFORE, TRAINING), {"model": 1}) == 1
    assert found((*BEFORE, TRAINING), {}) is None


@pytest.mark.parametrize(
    ("cell", "place", "namespace"),
    [
        ("nets = {'a': nn.Linear(8, 2)}\n", "nets['a']", {"nets": {"a": 1}}),
        (
            "class T:\n    def __init__(self):\n        self.net = nn.Linear(8, 2)\nt = T()\n",
            "t.net",
            {"t": SimpleNamespace(net=1)},
        ),
    ],
)
def test_by_an_attribute_or_a_key(cell, place, namespace):
    cells = (IMPORTS, DATA, cell + BUILT.format(place), TRAINING.replace("model(x)", f"{place}(x)"))
    assert found(cells, namespace) == 1
    assert found(cells, {next(iter(namespace)): SimpleNamespace()}) is None


def test_a_name_that_stands_for_something_else_by_now_is_not_asked():
    assert found((*BEFORE, TRAINING, "model = 3"), {"model": 3}) is None
