"""Data sets that are read one after another."""

from __future__ import annotations

import pytest

from nbddp.analysis.loaders import is_stream
from nbddp.analysis.loaders.streams import unfit_stream
from tests.analysis.cells import IMPORTS, MODEL, TRAINING, plan

STREAM = """
import random
import numpy as np
from helpers import Lines

class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        for k in range(100):
            yield {item}, 1

train_loader = DataLoader({made}, batch_size=10)
"""


def loaders(item: str = "torch.ones(8) * k", made: str = "Stream()"):
    found = plan(IMPORTS, STREAM.format(item=item, made=made), MODEL, TRAINING)
    return found, [share.call for share in found.sharding.shares.values() if share.call]


def test_a_stream_that_is_the_same_on_all_ranks_is_dealt_out():
    made, (call,) = loaders()
    assert is_stream(made, call.obj)
    assert not unfit_stream(made, call)


@pytest.mark.parametrize("item", ["random.random()", "np.random.rand(8)", "torch.randn(8)"])
def test_one_that_chance_makes_is_drawn_by_all_ranks(item):
    made, calls = loaders(item)
    assert [obj.kind for obj in made.assumed.alike] == ["loader"]
    assert made.assumed.splits
    assert not calls


def test_what_it_gives_without_a_batch_size_may_be_samples():
    made, (call,) = loaders("torch.randn(8)", "Stream(), batch_size=None)\nDataLoader([]")
    assert unfit_stream(made, call)
    assert not made.assumed.alike


def test_a_data_set_with_numbers_is_no_stream():
    made, (call,) = loaders(made="TensorDataset(torch.randn(9, 8))")
    assert not is_stream(made, call.obj)
    assert not unfit_stream(made, call)
