"""Models that give a name of torch's to something of their own."""

from __future__ import annotations

import ast

import pytest

from nbddp.script.names_of_torch import has_names_of_torch, names_of
from tests.analysis.cells import DATA, IMPORTS, TRAINING, plan

NET = """
class Base(nn.Module):
    kind = 1

    def helper(self):
        return 2

class Net(Base):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 2)
        self.type = "small"

    def forward(self, x):
        return self.inner(x)

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def test_names_that_a_class_and_its_bases_give():
    made = plan(IMPORTS, DATA, NET, TRAINING)
    (owner,) = [n for n in ast.walk(made.program.tree) if isinstance(n, ast.ClassDef) and n.name == "Net"]
    assert {"kind", "helper", "inner", "type", "forward"} <= names_of(made, owner)
    assert "nowhere" not in names_of(made, owner)


@pytest.mark.parametrize(
    ("line", "yes"),
    [("print(model.type)", True), ("print(model.inner)", False), ("model.train()", False)],
)
def test_whether_one_is_asked_for(line, yes):
    in_list = TRAINING.replace("model(x)", "both[0](x)")
    assert has_names_of_torch(plan(IMPORTS, DATA, NET + "both = [model]\n", in_list + f"    {line}\n")) is yes
    assert not has_names_of_torch(plan(IMPORTS, DATA, NET, TRAINING + f"    {line}\n"))  # it is the bare model
