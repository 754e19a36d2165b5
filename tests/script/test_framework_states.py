"""What a framework has trained."""

from __future__ import annotations

import pytest

from nbddp.script.framework_states import framework_states
from nbddp.script.from_modules import modules_of
from nbddp.script.layout import lay_out
from tests.analysis.cells import BEFORE, TRAINING, plan

ACCELERATE = "from accelerate import Accelerator\naccelerator = Accelerator()\n"
LIGHTNING = "import lightning as L\ntrainer = L.Trainer()\n"
LOOP = TRAINING.replace("loss.backward()", "accelerator.backward(loss)")


def states(*cells: str) -> dict[str, str]:
    made = plan(*BEFORE, *cells)
    assert made.framework is not None
    return framework_states(made, made.framework, lay_out(made, modules_of(made, []), set(), set(), set()))


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        (
            f"{ACCELERATE}model, optimizer = accelerator.prepare(model, optimizer)\n{LOOP}",
            {"model": "accelerator.unwrap_model(model)", "optimizer": "optimizer"},
        ),
        (f"{ACCELERATE}{LOOP}", {}),
        (f"{LIGHTNING}trainer.fit(model, train_loader)", {"model": "model"}),
        (f"{LIGHTNING}trainer.fit(nn.Linear(2, 2), train_loader)", {}),
    ],
)
def test_by_the_notebooks_names(cell, found):
    assert states(cell) == found
