"""Packages that a cell imports."""

from __future__ import annotations

import pytest

from nbddp.run.start.packages import packages_of


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import torch", ("torch",)),
        ("import torch.nn as nn, pandas", ("torch.nn", "pandas")),
        ("from sklearn.svm import SVC\nimport sklearn.svm", ("sklearn.svm",)),
        ("%matplotlib inline\nimport torch", ("torch",)),
        ("x = 1\nimport torch", ("torch",)),
    ],
)
def test_packages(source, names):
    assert packages_of(source) == names


@pytest.mark.parametrize(
    "source",
    ["", "x = 1", "import os, json", "import matplotlib.pyplot as plt", "from . import a", "def f():\n    import torch",
     "import torch(", "%%bash\nimport torch"],
)  # fmt: skip
def test_none(source):
    assert packages_of(source) == ()
