"""Which method it is, by what it is called on."""

from __future__ import annotations

import ast

from nbddp.analysis.values import Extent
from tests.analysis.cells import DATA, IMPORTS, node, plan, seen

S, M = Extent.SAMPLES, Extent.MEAN


def test_a_step_that_a_framework_calls_is_looked_at_and_is_no_training_of_the_notebooks_own():
    net = """
    import lightning as L
    class Net(L.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 2)
        def training_step(self, batch, i):
            x, t = batch
            return self.layer(x).sum()
    """
    made = plan(IMPORTS, DATA, net, "L.Trainer().fit(Net(), train_loader)")
    assert made.facts.value(node(made, ast.Call, "self.layer(x)")).extent is S
    assert not made.roles.models


def test_super_is_the_method_of_a_base_class_or_of_pythons_own():
    kept = "class Log(list):\n    def append(self, v):\n        super().append(v)\nlog = Log()"
    assert seen("log[0]", "log.append(loss.item())", "n = log[0]", before=kept) is M


SINK = """
def averaging():
    total = steps = 0
    mean = None
    while True:
        value = yield mean
        total += value
        steps += 1
        mean = total / steps
sink = averaging()
next(sink)
"""


def test_what_a_generator_is_sent_goes_on_in_its_body_and_comes_out():
    assert seen("sink.send(loss.item())", "n = sink.send(loss.item())", before=SINK) is M
    assert seen("total / steps", "n = sink.send(loss.item())", before=SINK) is M
