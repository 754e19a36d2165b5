"""Names that come with a star."""

from __future__ import annotations

import builtins

import pytest

from nbddp.analysis.library import HIDES, USUAL, exports
from nbddp.script.imports import own_imports


@pytest.mark.parametrize(
    ("module", "name", "yes"),
    [
        ("math", "sqrt", True),
        ("math", "randn", False),
        ("torch.nn", "Linear", True),
        ("torch.nn", "init", True),
        ("torch.nn", "relu", False),
        ("torch.nn.functional", "relu", True),
        ("torchvision.models", "resnet18", True),
        ("helpers", "relu", False),
    ],
)
def test_exports(module, name, yes):
    assert exports(module, name) is yes


def test_what_everybody_calls_by_the_same_name():
    assert USUAL["np"] == "numpy"
    assert USUAL["DataLoader"] == "torch.utils.data.DataLoader"
    assert "x" not in USUAL


@pytest.mark.parametrize("module", ["numpy", "torch"])
def test_the_names_of_python_and_of_scripts_that_a_star_hides_are_known(module):
    star = pytest.importorskip(module, reason=f"the light environments have no {module}").__all__
    assert {*star} & ({*vars(builtins)} | {*own_imports()}) <= HIDES[module]  # older ones hide fewer
