"""Numbers of each rank's part of the batches become those of whole batches; what the ranks have otherwise does not."""

from __future__ import annotations

import torch

from nbddp.run.watching.means import means_over_ranks
from tests.script.parts.ranks import on_ranks


def gather(rank: int) -> str:
    values = {
        "number": float(rank),
        "rows": [(epoch, {"loss": torch.tensor(float(epoch + rank))}) for epoch in range(2)],
        "none": None,
        "longer": [0.5] * rank,
        "counts": [rank],
        "text": {str(rank): 1.0},
        "shape": torch.zeros(rank + 1),
        "whole": torch.tensor([1, 2]),
        "kind": 1.0 if rank else 1,
        "no plain data": object(),
    }
    return repr(means_over_ranks(values))


def test_item_by_item_where_all_ranks_have_the_same_items():
    found = on_ranks(2, gather)
    assert found[0] == found[1]
    rows = [(0, {"loss": torch.tensor(0.5)}), (1, {"loss": torch.tensor(1.5)})]
    assert found[0] == repr({"number": 0.5, "rows": rows, "none": None, "whole": torch.tensor([1, 2])})


def test_one_process_has_them_itself():
    assert means_over_ranks({"loss": 0.5}) == {"loss": 0.5}
    assert means_over_ranks({}) == {}
