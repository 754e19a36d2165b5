"""What is put between the lines of a cell that trains in the kernel."""

from __future__ import annotations

import pytest

from nbddp.inkernel.edits import NAME, edits_for, prefixed, trained_methods
from tests.analysis.cells import BEFORE, DATA, IMPORTS, TRAINING, plan

WHILE = TRAINING.replace("for epoch in range(3):", "epoch = 0\nwhile epoch < 3:") + "    epoch += 1\n"
NET = """
class Net(nn.Linear):
    def loss(self, x, y):
        return F.cross_entropy(self(x), y)

model = Net(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def texts(cell: str, *, parallel: bool = False) -> str:
    return "\n".join(edit.text for edit in edits_for(plan(*BEFORE, cell), parallel=parallel))


def test_epochs_are_counted_and_samplers_told():
    found = texts(TRAINING)
    assert f"{NAME}.epochs(" in found
    assert f"{NAME}.set_epoch(train_loader, epoch)" in found


def test_a_while_loop_is_counted_by_its_own_counter():
    found = texts(WHILE)
    assert f"{NAME}.epoch_begins(epoch)" in found
    assert f"if {NAME}.epoch_done():" in found


def test_a_pass_that_nothing_counts_is_shuffled_by_the_loader_itself():
    found = texts(TRAINING.replace("for epoch in range(3):", "if True:"))
    assert f"{NAME}.reshuffled(" in found
    assert "set_epoch" not in found


@pytest.mark.parametrize("parallel", [True, False])
def test_models_are_split_where_that_was_asked_for(parallel):
    assert (f"{NAME}.parallel(model)" in texts(TRAINING, parallel=parallel)) is parallel


def test_methods_through_which_a_model_is_trained():
    made = plan(IMPORTS, DATA, NET, TRAINING.replace("F.cross_entropy(model(x), y)", "model.loss(x, y)"))
    assert trained_methods(made, made.roles.models[0]) == ["loss"]
    made = plan(IMPORTS, DATA, NET, TRAINING)
    assert trained_methods(made, made.roles.models[0]) == []


def test_parts_of_scripts_are_attributes_of_one_thing():
    assert prefixed(plan(*BEFORE, TRAINING))("report") == f"{NAME}.report"
