"""The loop in which the script writes checkpoints."""

from __future__ import annotations

import pytest

from nbddp.analysis.state import checkpointed
from nbddp.options import Options
from tests.analysis.cells import BEFORE, TRAINING, plan

ASKED = Options(checkpoints=True)
INNER = "".join(f"    {line}\n" for line in TRAINING.strip().split("\n"))


@pytest.mark.parametrize(
    "header", ["for epoch in range(3):", "for epoch in tqdm(range(1, 4)):", "for epoch in trange(3):"]
)
def test_a_loop_over_numbers_that_grow(header):
    cell = TRAINING.replace("for epoch in range(3):", header) + "    best = min(best, epoch)\n"
    found = checkpointed(plan(*BEFORE, "from tqdm import tqdm, trange\nbest = 9", cell, options=ASKED))
    assert found is not None
    assert (found.counter, found.values) == ("epoch", ("best",))
    assert dict(found.state) == {"model": "model", "optimizer": "optimizer"}


@pytest.mark.parametrize(
    "cell",
    [
        TRAINING.replace("range(3)", "range(3, 0, -1)"),
        TRAINING.replace("range(3)", "[1, 2]"),
        TRAINING.replace("for epoch in range(3):", "epoch = 0\nwhile epoch < 3:") + "    epoch += 1\n",
        TRAINING + TRAINING,
        f"for fold in range(2):\n{INNER}",
        f"def fit():\n{INNER}\nfor fold in range(2):\n    fit()\n",
        TRAINING.replace("for epoch", "last = 0.0\nfor epoch")
        + "    last = last * 0.5 + x.max().item()\n    print(last)\n",
    ],
)
def test_one_that_could_not_be_gone_on_with_is_none(cell):
    assert checkpointed(plan(*BEFORE, cell, options=ASKED)) is None


def test_in_a_function_that_is_called_once():
    assert checkpointed(plan(*BEFORE, f"def fit():\n{INNER}", "fit()", options=ASKED)) is not None


def test_where_nobody_asks_there_is_none():
    assert checkpointed(plan(*BEFORE, TRAINING)) is None
