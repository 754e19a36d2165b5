"""The loop over batches in whose middle a script can be gone on with."""

from __future__ import annotations

import pytest

from nbddp.analysis.state import checkpointed
from nbddp.options import Options
from tests.analysis.cells import BEFORE, plan

ASKED = Options(checkpoints=True)
SUMS = """
best = 9.0
for epoch in range(3):
    total, right, step = 0.0, 0, 0
    for x, y in train_loader:
        out = model(x)
        loss = F.cross_entropy(out, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        right += (out.argmax(1) == y).sum().item()
        step += 1
    best = min(best, total)
    print(right, step)
"""


def found(cell: str):
    loop = checkpointed(plan(*BEFORE, cell, options=ASKED))
    assert loop is not None
    return loop


def test_its_sums_and_how_those_of_all_ranks_make_up_one():
    batches = found(SUMS).batches
    assert batches.sums == (("right", "sum"), ("step", "same"), ("total", "mean"))
    assert batches.numbered is None


def test_numbers_of_batches_go_on():
    cell = SUMS.replace("for x, y in train_loader", "for i, (x, y) in enumerate(train_loader)")
    assert found(cell).batches.numbered is not None


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (
            SUMS.replace("        optimizer.step()", "        if step % 2:\n            optimizer.step()"),
            "makes a step",
        ),
        (SUMS.replace("    total, ", "    best *= 2\n    total, "), "carries over before its batches: best"),
        (
            SUMS.replace("    total, ", "    scheduler.step()\n    total, ").replace(
                "best = 9.0", "best = 9.0\nscheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)"
            ),
            "an optimizer or a schedule",
        ),
        (SUMS.replace("in train_loader", "in zip(train_loader, train_loader)").replace("x, y", "(x, y), _"), "loader"),
        (
            SUMS.replace("step += 1", "step += next(ones)").replace("best = 9.0", "ones = iter([1] * 99)\nbest = 9.0"),
            "next()",
        ),
        (SUMS.replace("step += 1", "u, v = next(iter(test_loader))"), "one loader"),
    ],
)
def test_one_that_could_not_be_gone_on_with_says_why(cell, reason):
    loop = found(cell)
    assert loop.batches is None
    assert reason in loop.whole
