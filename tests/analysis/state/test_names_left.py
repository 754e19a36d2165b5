"""Which names of an earlier training a later one has to get from the kernel, and behind which statement."""

from __future__ import annotations

import pytest

from nbddp.analysis.state import names_left
from tests.analysis.cells import BEFORE, TRAINING, plan

FIRST = "import copy\nbest, kept, log = 9.0, None, []\n" + TRAINING
KEEPS = FIRST + "    if loss.item() < best:\n        best, kept = loss.item(), copy.deepcopy(model.state_dict())\n"
LOGS = FIRST + "    log.append(epoch)\n"
MODEL = FIRST + "    kept = copy.deepcopy(model)\n"
OWN = "model", "optimizer"


def left(first: str, *others: str, needs: str = "") -> list[tuple[str, int, int, bool]]:
    made = plan(*BEFORE, first, *others, "# %%\n%%ddp_train\n" + needs + "\n" + TRAINING)
    found = [one for one in names_left(made) if one.name not in OWN]
    before = len(BEFORE)
    return [(one.name, one.at.cell.number - before, one.read_by.cell.number - before, one.kept) for one in found]


@pytest.mark.parametrize(
    ("first", "needs", "found"),
    [
        (KEEPS, "model.load_state_dict(kept)", [("kept", 1, 2, False)]),
        (LOGS, "last = log[-1] * 0.1\nmodel.load_state_dict({'weight': last})", [("log", 1, 2, False)]),
        (MODEL, "model.load_state_dict(kept.state_dict())", [("kept", 1, 2, True)]),
        (KEEPS, "kept = None\nmodel.load_state_dict(kept)", []),
        (KEEPS, "", []),
    ],
)
def test_what_is_read_before_it_is_bound_again(first, needs, found):
    assert left(first, needs=needs) == found


def test_also_what_was_made_of_it_between_the_cells():
    """Made again, it would be of an untrained model."""
    found = left(KEEPS, "guess = model(torch.randn(100, 8)).argmax(1)", needs="train_loader = guess")
    assert ("guess", 2, 3, False) in found


def test_the_first_training_needs_nothing_of_another():
    assert names_left(plan(*BEFORE, KEEPS)) == ()


CALLS = """\
import copy
log = []
def penalty(value):
    return value * 2
def fit(model, step):
    for epoch in range(3):
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            step(loss).backward()
            optimizer.step()
        log.append(next(iter(train_loader)))
fit(model, penalty)
"""


def test_functions_and_builtins_are_what_they_were():
    """Bound in the script's main function, each would be a local name there, without a value before."""
    found = left(CALLS, needs="first = next(iter(log))\nmodel.load_state_dict({'weight': penalty(first)})")
    assert {name for name, *_ in found} == {"log"}
