"""Attributes: of tensors, of models, of things."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

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


@pytest.mark.parametrize("attribute", ["device", "dtype", "ndim", "requires_grad"])
def test_what_tensors_of_all_ranks_have_alike(attribute):
    assert seen(f"x.{attribute}", f"n = x.{attribute}") is Extent.UNIFORM


@pytest.mark.parametrize("attribute", ["data", "T", "real"])
def test_an_attribute_of_samples_is_of_samples(attribute):
    assert seen(f"x.{attribute}", f"n = x.{attribute}") is Extent.SAMPLES


def test_a_models_output_that_carries_its_loss_has_a_mean():
    assert seen("model(x).loss", "n = model(x).loss") is Extent.MEAN
    assert seen("model(x).logits", "n = model(x).logits") is Extent.SAMPLES


def test_the_shape_of_what_is_no_share_is_the_same_on_all_ranks():
    assert seen("w.shape[0]", "n = w.shape[0]", before="w = torch.zeros(8, 2)") is Extent.UNIFORM
    assert seen("x.shape[0]", "n = x.shape[0]") is Extent.SUM


def test_fields_keep_what_was_put_into_them():
    lines = ("meter.total = loss.item()", "n = meter.total")
    assert seen("meter.total", *lines, before=METER) is Extent.MEAN
