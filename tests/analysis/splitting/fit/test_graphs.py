"""What joins samples to a graph is split for no one."""

from __future__ import annotations

import pytest

from nbddp.analysis.splitting.fit.graphs import is_of_a_graph
from tests.analysis.cells import IMPORTS, plan

TRAINING = """
for step in range(3):
    loss = F.cross_entropy(model({given}), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("model", "given", "expected"),
    [
        ("nn.Linear(12, 2)", "adj", False),
        ("nn.Linear(12, 2)", "x", False),
        ("Net(12)", "adj", True),
        ("Net(12)", "train_adj", True),
        ("Net(12)", "x", False),
    ],
)
def test_a_model_that_is_not_read_is_given_no_part_of_a_graph(model, given, expected):
    made = plan(
        f"{IMPORTS}from layers import Net\n{given}, labels = torch.eye(12), torch.arange(12) % 2\n"
        f"model = {model}\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
        TRAINING.format(given=given),
    )
    assert is_of_a_graph(made) == expected
