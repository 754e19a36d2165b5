"""What classes of the notebook and their instances have."""

from __future__ import annotations

import ast

from nbddp.analysis.values import Extent
from tests.analysis.cells import BEFORE, batch, extent, node, plan, seen

METER = """
class Base:
    def __init__(self):
        self.total = 0.0

    @property
    def doubled(self):
        return self.total * 2

    @staticmethod
    def scale(value):
        return value * 2

    @classmethod
    def make(cls):
        return cls()

class Meter(Base):
    pass

meter = Meter()
"""


def test_reading_a_property_runs_its_method():
    lines = ("meter.total = loss.item()", "n = meter.doubled")
    assert seen("meter.doubled", *lines, before=METER) is Extent.MEAN


def test_a_static_method_gets_no_instance():
    assert seen("meter.scale(loss.item())", "n = meter.scale(loss.item())", before=METER) is Extent.MEAN


def test_a_class_method_makes_one_of_the_class_by_which_it_is_asked_for():
    made = plan(*BEFORE, METER, "other = Meter.make()", batch("other.total = loss.item()"))
    owners = made.facts.value(node(made, ast.Name, "other")).objs
    assert {made.facts.classes[o].name for o in owners} == {"Meter"}


def test_what_a_class_does_not_say_is_not_made_up():
    lines = ("meter.total = loss.item()", "n = meter.elsewhere")
    assert seen("meter.elsewhere", *lines, before=METER) is Extent.UNIFORM


def test_getattr_of_a_class_is_asked_for_what_it_lacks():
    cells = "class Log:\n    def __getattr__(self, name):\n        return self.last\n\nlog = Log()\n"
    made = plan(*BEFORE, cells, batch("log.last = loss.item()", "n = log.anything"))
    assert extent(made, "log.anything") is Extent.MEAN
