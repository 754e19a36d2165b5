"""Files that code of modules writes: one process writes, the others find them whole."""

from __future__ import annotations

from pathlib import Path

import torch

from nbddp.script.parts.saving import saved_by_rank_0
from tests.script.parts.ranks import on_ranks


def save_in_a_module(rank: int, folder: str) -> tuple[int, bool]:
    usual = torch.save
    with saved_by_rank_0():
        torch.save({"rank": rank}, Path(folder, "best.pt"))
    found: int = torch.load(Path(folder, "best.pt"), weights_only=True)["rank"]
    return found, torch.save is usual


def test_rank_0_saves_and_all_read_what_it_saved(tmp_path):
    assert on_ranks(2, save_in_a_module, str(tmp_path)) == [(0, True)] * 2
