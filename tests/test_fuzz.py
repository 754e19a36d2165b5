"""Cells of any kind export to a script that compiles, with every comment of what is kept, or are refused."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import nbddp
from nbddp.analysis import make_plan
from nbddp.export import Script
from nbddp.notebook import notebook_from_percent
from nbddp.options import Options
from tests.statements import cells

PREAMBLE = """# %%
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset  # the usual
# %%
data = TensorDataset(torch.randn(64, 4), torch.randint(0, 2, (64,)))
train_loader = DataLoader(data, batch_size=8, shuffle=True)
test_loader = DataLoader(data, batch_size=8)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()
"""
TRAINING = """# %% tags=["ddp-train"]
for epoch in range(2):  # epochs
    total = 0.0
    for x, y in train_loader:
        # one step
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / len(train_loader))
    # the end of an epoch
"""
SETTINGS = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,  # the same notebooks each time: a test run finds what it found before
    phases=[Phase.generate],  # a notebook of a few cells is small enough as it is
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def comments(text: str) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return Counter(t.string for t in tokens if t.type == tokenize.COMMENT)


def export(text: str) -> Script | None:
    """None where it is refused; any other exception fails the test."""
    try:
        return nbddp.export(notebook_from_percent(text, "fuzz.py"))
    except nbddp.CannotExport as refused:
        found = refused.diagnostics
    assert any(d.level == "error" for d in found)
    assert all(d.rule != "internal" for d in found), found
    return None


def holds(text: str, script: Script) -> None:
    compile(script.text, "script", "exec")
    written = comments(script.text)
    for number in {s.cell.number for s in script.plan.kept}:
        statements = [s for s in script.plan.program.statements if s.cell.number == number]
        imports = any(
            isinstance(s.node, ast.Import | ast.ImportFrom) for s in statements
        )  # go where nothing names them
        if not imports and all(s in script.plan.kept for s in statements):
            for comment in comments(statements[0].cell.code):
                assert comment in written, f"{comment} of cell {number} is lost"


def test_cells_around_a_training():
    """Most are exported: a fuzz whose notebooks were all refused would prove nothing."""
    exported = []

    @SETTINGS
    @given(st.lists(cells(), min_size=1, max_size=4), st.booleans())
    def collect(texts, again):
        text = PREAMBLE + "".join(f"# %%\n{cell}\n" for cell in texts) + TRAINING
        script = export(text)
        if script is not None:
            holds(text, script)
            assert not again or nbddp.export(notebook_from_percent(text, "fuzz.py")).text == script.text
        exported.append(script is not None)

    collect()
    assert sum(exported) > len(exported) / 2


@SETTINGS
@given(st.lists(cells(), min_size=1, max_size=5))
def test_cells_that_train_themselves(texts):
    text = PREAMBLE + "".join(f"# %%\n{cell}\n" for cell in texts)
    script = export(text)
    if script is not None:
        holds(text, script)


@SETTINGS
@given(st.lists(cells(), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_cells_with_a_line_that_is_missing(texts, random):
    lines = (PREAMBLE + "".join(f"# %%\n{cell}\n" for cell in texts) + TRAINING).split("\n")
    del lines[random.randrange(len(lines))]
    script = export("\n".join(lines))
    if script is not None:
        compile(script.text, "script", "exec")


@pytest.mark.parametrize("cell", ["model = model", "x = 1; y = 2  # two", "def f(): pass  # short"])
def test_a_plan_knows_each_statement_once(cell):
    plan = make_plan(notebook_from_percent(f"{PREAMBLE}# %%\n{cell}\n{TRAINING}", "fuzz.py"), Options())
    assert len(plan.slice.kept) + len(plan.slice.dropped) == len(plan.program.statements)
