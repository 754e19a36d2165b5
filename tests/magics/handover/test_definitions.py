"""What the training cell defines is there afterwards."""

from __future__ import annotations

from typing import Any

from nbddp.magics.handover.definitions import define
from tests.analysis.cells import BEFORE, TRAINING, plan

CELL = "import math\n\ndef half(x):\n    return x / number\n\nclass A:\n    n = math.pi\n\nnumber = 2\n"


def test_functions_classes_and_imports_are_defined_and_nothing_else_runs():
    namespace: dict[str, Any] = {"number": 4}
    assert define(plan(*BEFORE, CELL + TRAINING), namespace) == {}
    assert namespace["half"](8) == 2
    assert namespace["A"].n == namespace["math"].pi
    assert namespace["number"] == 4
    assert "epoch" not in namespace


def test_those_of_other_cells_are_left_alone():
    namespace: dict[str, Any] = {}
    assert define(plan(*BEFORE, CELL, TRAINING), namespace) == {}
    assert "half" not in namespace


def test_one_that_fails_is_named_with_the_reason():
    namespace: dict[str, Any] = {}
    failed = define(plan(*BEFORE, "class A:\n    n = missing\n\ndef f():\n    return 1\n" + TRAINING), namespace)
    assert list(failed) == ["A"]
    assert "NameError" in failed["A"]
    assert namespace["f"]() == 1
