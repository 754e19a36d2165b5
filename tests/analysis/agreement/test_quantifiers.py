"""Is there any that …, are all of them …: what each rank can ask of its own share."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.agreement.quantifiers import ALL, ANY, quantifier
from tests.analysis.cells import BEFORE, batch, nodes, plan


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("torch.isnan(loss)", ANY),
        ("torch.isnan(loss).any()", ANY),
        ("torch.isnan(loss).any().item()", ANY),
        ("bool(torch.isnan(x).any())", ANY),
        ("torch.isfinite(loss)", ALL),
        ("torch.all(x > 0)", ALL),
        ("not torch.isfinite(loss)", ANY),
        ("not torch.isnan(loss)", ALL),
        ("loss != loss", ANY),
        ("loss == loss", ALL),
        ("torch.isnan(loss) or torch.isinf(loss)", ANY),
        ("torch.isfinite(loss) and (x > 0).all()", ALL),
        ("epoch > 1 and torch.isnan(loss)", ANY),
    ],
)
def test_what_is_asked_of_all(test, found):
    made = plan(*BEFORE, batch(f"if {test}:", "    continue"))
    (node,) = [n.test for n in ast.walk(made.program.tree) if isinstance(n, ast.If)]
    assert quantifier(made, node) == found


@pytest.mark.parametrize(
    "test",
    [
        "loss.item() > 3",
        "x.max() > 3",
        "torch.isnan(loss) and torch.isinf(loss)",
        "torch.isfinite(loss) or (x > 0).all()",
        "(x > 0).all(1)",
        "x.sum()",
    ],
)
def test_what_cannot_be_asked_of_shares(test):
    made = plan(*BEFORE, batch(f"if {test}:", "    n = 1"))
    (node,) = [n.test for n in ast.walk(made.program.tree) if isinstance(n, ast.If)]
    assert quantifier(made, node) is None
    assert not nodes(made, ast.Name, "nowhere")
