"""What kind of thing a value is, and what a batch is where that is known."""

from __future__ import annotations

import pytest

from nbddp.analysis.values import Extent
from tests.analysis.cells import seen

U, S = Extent.UNIFORM, Extent.SAMPLES


@pytest.mark.parametrize("asked", ["x, (list, tuple)", "loss.item(), float", "model, nn.Linear"])
def test_ranks_have_the_same_kinds_of_things(asked):
    assert seen(f"isinstance({asked})", f"n = [isinstance({asked})]") is U


@pytest.mark.parametrize("kinds", ["(list, tuple)", "list", "dict", "(tuple, torch.Tensor)"])
def test_what_is_a_container_has_parts_with_samples_and_is_none_itself(kinds):
    lines = ("batch = x", f"if isinstance(batch, {kinds}):", "    n = len(batch)", "    part = batch[0]")
    assert (seen("len(batch)", *lines) is Extent.SUM) == ("Tensor" in kinds)
    assert seen("batch[0]", *lines) is S


MOVED = """
def moved(data):
    if isinstance(data, (list, tuple)):
        return [moved(part) for part in data]
    return data.to("cpu")
"""


def test_the_parts_of_what_a_function_goes_into_are_tensors():
    assert seen("x + 0", "x, y = moved((x, y))", "x + 0", before=MOVED) is S
    assert seen("(moved(model), x)[0]", "n = (moved(model), x)[0]", before=MOVED) is U
