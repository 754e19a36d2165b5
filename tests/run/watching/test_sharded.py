"""States of sharded models in watched runs, which rank 0 asks for while the others take part."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from nbddp.run.watching.sharded import is_sharded, load_state, state_of, take_part
from nbddp.script.parts.sharding import shard
from tests.script.parts.ranks import on_ranks


def saved_and_loaded(rank: int) -> Any:
    torch.manual_seed(0)
    plain, model = nn.Linear(2, 2), nn.Sequential(nn.Linear(3, 5), nn.Linear(5, 1))
    whole = {name: value.clone() for name, value in model.state_dict().items()}
    shard(model)
    optimizer = torch.optim.AdamW(model.parameters())
    things = [plain, model, optimizer]
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    states = [state_of(thing) for thing in things] if rank == 0 else take_part(things)
    load_state(model, whole)
    again = state_of(model)
    return [is_sharded(thing) for thing in things], states, again, whole


def test_a_state_is_whole_on_rank_0():
    (kinds, states, again, whole), (_, none, _, _) = on_ranks(2, saved_and_loaded)
    assert kinds == [False, True, True]
    assert none is None
    assert states[0].keys() == {"weight", "bias"}
    assert states[2]["state"][0]["exp_avg"].shape == (5, 3)
    assert not torch.equal(states[1]["0.weight"], whole["0.weight"]), "it has been trained"
    torch.testing.assert_close(dict(again), whole)
