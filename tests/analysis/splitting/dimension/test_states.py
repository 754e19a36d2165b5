"""First states of recurrent layers: those of a rank's samples."""

from __future__ import annotations

import pytest

from tests.analysis.splitting.dimension.sequences import OUT, sequences
from tests.analysis.splitting.steps import planned

BOTH = OUT.replace("self.out(h)", "self.out(h), state")
STEP = "out, s = model(x, s)\nloss = F.cross_entropy(out.view(-1, 9), t.reshape(-1))"
DRAWN = "x, t = several[step : step + 5], several[step + 1 : step + 6]"


@pytest.mark.parametrize(
    ("before", "again", "cut"),
    [
        ("s = torch.zeros(1, 10, 8)", "s = s.detach()", ["torch.zeros(1, 10, 8)"]),
        ("s = first = torch.zeros(1, 10, 8)", "s = s.detach()", ["torch.zeros(1, 10, 8)"]),
        ("s = None", "s = None if s is None else s.detach()", []),
    ],
)
def test_the_first_state_is_split(before, again, cut):
    made = sequences(f"{DRAWN}\n{again}", STEP, BOTH, before=f"{before}\n")
    (split,) = made.assumed.splits
    assert [made.program.source(n) for n in split.states] == cut
    assert "s" not in split.names


def test_a_state_of_the_whole_batch_that_is_seen_nowhere_else_is_said():
    forward = "state = torch.zeros(1, 10, 8)\n        " + OUT
    assert "has the states of the whole batch" in sequences(forward=forward).assumed.unsplit


def test_without_states_nothing_is_split_but_the_batch():
    (split,) = planned("idx = torch.randint(0, 100, (8,))\nloss = F.mse_loss(model(X[idx]), y[idx])").assumed.splits
    assert not split.states
