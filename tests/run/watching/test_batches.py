"""Within an epoch: what is written there, by whom it is asked for, and what cannot be gone on with there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from nbddp.run.watching.plain_values import plain
from nbddp.run.watching.settings import Settings
from tests.run.watching.test_epochs import watcher_of
from tests.script.parts.ranks import on_ranks

SAVED = {"loop": 1, "epochs_done": 0, "batches": 2, "order": None, "states": {}, "ranks": []}


def train(rank: int, folder: str, options: dict[str, Any]) -> Any:
    """Two epochs of four batches, whose numbers are added up; the carried value is changed in each batch."""
    watcher, model = watcher_of(rank, **options), nn.Linear(1, 1)
    own = {"seen": 0}
    (own["seen"],) = watcher.carry(own, {})
    shown = []
    for _ in watcher.over(range(2), {"model": model}, own.copy):
        sums = {"total": watcher.so_far("total", torch.zeros(()), "sum")}
        for i, x in enumerate(watcher.rest([1.0, 2.0, 3.0, 4.0], sums.copy), watcher.numbered(0)):
            sums["total"], own["seen"] = sums["total"] + x, own["seen"] + 1
            shown.append((i, float(sums["total"]), own["seen"]))
            if folder and len(shown) == 3:
                (Path(folder) / "copy.pt").write_bytes(Path(options["checkpoint"]).read_bytes())
        watcher.epoch_ends({}, own)
    return shown


def test_it_goes_on_where_it_was(tmp_path):
    path, events = str(tmp_path / "check.pt"), tmp_path / "events.jsonl"
    options = {"checkpoint": path, "checkpoint_every": "2"}
    (whole,) = on_ranks(1, train, str(tmp_path), options, NBDDP_EVENTS=str(events))
    told = [json.loads(line) for line in events.read_text().splitlines()]
    assert [(e["epoch"], e.get("batch")) for e in told if e["event"] == "checkpoint"] == [
        (0, 2),
        (0, None),
        (1, 2),
        (1, None),
    ]
    (rest,) = on_ranks(1, train, "", {"resume": str(tmp_path / "copy.pt")})
    assert rest == whole[2:]
    assert rest[0] == (2, 6.0, 3)


def test_where_a_training_has_no_such_place_it_does_not_go_on_as_if_the_epoch_had_not_begun(tmp_path):
    torch.save(SAVED, tmp_path / "check.pt")
    batches = watcher_of(0, resume=str(tmp_path / "check.pt")).epochs.batches
    with pytest.raises(SystemExit, match="written in the middle of an epoch, where this training cannot continue"):
        batches.begin(1, {}, None, SAVED)


def test_an_epoch_that_has_left_nothing_out_is_no_end_of_the_one_that_was_begun():
    batches = watcher_of(0, resume="x.pt").epochs.batches
    batches.begin(1, {}, dict, SAVED)
    with pytest.raises(RuntimeError, match="have not been left out"):
        batches.epoch_ends()


@pytest.mark.parametrize(
    ("settings", "within", "epochs"),
    [
        (Settings("", checkpoint="x"), False, 1),
        (Settings("", checkpoint="x", checkpoint_every="3e"), False, 3),
        (Settings("", checkpoint="x", checkpoint_every="10m"), True, 1),
        (Settings("", checkpoint="x", checkpoint_every="500"), True, 1),
        (Settings("", checkpoint="x", pause="p"), True, 1),
        (Settings("", checkpoint_every="10m"), False, 1),
    ],
)
def test_when_the_processes_ask_each_other(settings, within, epochs):
    assert (settings.within_epochs, settings.epochs_between) == (within, epochs)


def test_names_that_an_earlier_cell_has_left_are_kept_within_an_epoch_as_well(tmp_path):
    start, path = str(tmp_path / "start.pt"), tmp_path / "check.pt"
    names = {"kept": {"value": plain([1.5, "best"]), "on_gpu": False}}
    torch.save({"loop": 1, "states": {}, "names": names}, start)
    on_ranks(1, train, str(tmp_path), {"start": start, "checkpoint": str(path), "checkpoint_every": "2"})
    resumed = watcher_of(0, resume=str(tmp_path / "copy.pt"))
    assert resumed.has_left("kept")
    assert resumed.left("kept", None) == [1.5, "best"]
