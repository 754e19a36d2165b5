"""The number of samples of whatever a loader gives."""

from __future__ import annotations

from collections import UserDict
from typing import Any

import numpy as np
import pytest
import torch

from nbddp.run.watching.samples import samples_in


class Graphs:
    num_graphs = 7
    x = torch.ones(90, 3)


class Odd:
    @property
    def shape(self) -> Any:
        raise RuntimeError("not now")


@pytest.mark.parametrize(
    ("things", "number"),
    [
        ((torch.ones(5, 2), torch.ones(5)), 5),
        ((3, torch.ones(5, 2)), 5),  # for number, x in enumerate(loader)
        ((torch.tensor(3), np.ones((4, 2))), 4),
        (([torch.ones(6, 2), torch.ones(6)],), 6),
        (({"ids": torch.ones(8, 2), "text": ["a"] * 8},), 8),
        ((UserDict(ids=torch.ones(8, 2)),), 8),
        ((["a", "b"], torch.ones(2)), 2),
        ((Graphs(),), 7),
        ((Odd(), torch.ones(3)), 3),
        ((Odd(), None, "text", 3, ()), None),
        ((), None),
    ],
)
def test_a_batch(things, number):
    assert samples_in(things) == number


def test_what_holds_itself_has_an_end():
    batch: list[Any] = []
    batch.append(batch)
    assert samples_in((batch,)) is None
