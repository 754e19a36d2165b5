"""The result that goes back to the notebook."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import torch
from torch import nn

from nbddp.run.watching.settings import Settings
from nbddp.run.watching.watcher import Watcher
from nbddp.script.parts.ddp import DDP
from tests.script.parts.ranks import on_ranks


class Odd:
    def state_dict(self) -> dict[str, Any]:
        return {"function": print}


def finish(rank: int) -> None:
    torch.manual_seed(0)
    model = DDP(nn.Linear(2, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    loop: list[Any] = []
    loop.append(loop)
    scope = {
        "losses": [rank, 0.5],
        "name": "x",
        "array": np.ones(2),
        "sample": torch.ones(3)[:1],
        "model": model,
        "loop": loop,
        "mean": [{"loss": float(rank), "epoch": 3, "out": torch.full((2,), float(rank))}],
        "uneven": [0.5] * rank,
        "not asked for": 1,
    }
    means = ["mean", "uneven", "never bound"]
    names = ["losses", "name", "array", "sample", "model", "loop", *means]
    watcher = Watcher(Settings.of())
    watcher.reports.rank = rank
    watcher.deliver({"model": model, "optimizer": optimizer, "odd": Odd(), "unset": None}, names, means, scope)


def test_rank_0_leaves_states_and_values(tmp_path):
    path, events = tmp_path / "result.pt", tmp_path / "events.jsonl"
    on_ranks(2, finish, NBDDP_RESULT=str(path), NBDDP_EVENTS=str(events))
    result = torch.load(path, weights_only=True)
    assert result["format"] == 1
    assert list(result["states"]) == ["model", "optimizer"]
    assert list(result["states"]["model"]) == ["weight", "bias"]
    assert result["states"]["optimizer"]["state"][0]["step"] == 1
    assert list(result["values"]) == ["losses", "name", "array", "sample", "mean"]
    assert result["values"]["losses"] == [0, 0.5]
    (row,) = result["values"]["mean"]
    assert (row["loss"], row["epoch"], row["out"].tolist()) == (0.5, 3, [0.5, 0.5])
    assert result["left_out"].keys() == {"odd", "unset", "model", "loop"}
    assert result["left_out"]["model"] == "a DDP cannot be saved as plain data"
    (event,) = [json.loads(line) for line in events.read_text().splitlines()]
    assert (event["event"], event["rank"], event["path"]) == ("result", 0, str(path))


def test_nobody_asks_nothing_is_left(tmp_path):
    on_ranks(1, finish, NBDDP_EVENTS=str(tmp_path / "events.jsonl"))
    assert list(tmp_path.iterdir()) == []
