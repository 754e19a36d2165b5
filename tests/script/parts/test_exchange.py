"""Values that go from one process to the others."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch

from nbddp.script.parts.exchange import (
    all_ranks,
    any_rank,
    first_on_rank_0,
    folder_of_rank_0,
    from_rank_0,
    gathered,
    lasting,
)
from tests.script.parts.ranks import on_ranks, run_ranks


def exchange(rank: int) -> Any:
    mine = {"rank": rank, "tensor": torch.arange(rank + 1), "array": np.ones(2) * rank}
    flags = [any_rank(rank == 1), any_rank(False), any_rank(torch.tensor(rank == 0)), any_rank(np.bool_(rank == 1))]
    return from_rank_0(mine if rank == 0 else None), gathered(mine), flags


def test_all_get_what_one_has():
    for first, everyones, flags in on_ranks(2, exchange):
        assert first["rank"] == 0
        assert first["tensor"].tolist() == [0]
        assert [value["rank"] for value in everyones] == [0, 1]
        assert [value["tensor"].tolist() for value in everyones] == [[0], [0, 1]]
        assert [value["array"].tolist() for value in everyones] == [[0, 0], [1, 1]]
        assert flags == [True, False, True, True]


def agree(rank: int) -> list[bool]:
    share = torch.tensor([True, rank == 0])
    return [all_ranks(share.all()), all_ranks(share.any()), all_ranks(rank < 2), all_ranks(np.bool_(rank == 0))]


def test_all_must_find_it_true():
    assert on_ranks(2, agree) == [[False, True, True, False]] * 2


def download(rank: int, path: str) -> list[str]:
    with first_on_rank_0():
        seen = Path(path).read_text().split() if Path(path).exists() else []
        with Path(path).open("a") as file:
            file.write(f"{rank} ")
    return seen


def test_one_goes_first_and_the_others_find_what_it_has_done(tmp_path):
    first, *others = on_ranks(3, download, str(tmp_path / "file"))
    assert first == []
    assert all("0" in seen for seen in others)


def test_one_of_each_machine_goes_first(tmp_path):
    assert on_ranks(2, download, str(tmp_path / "file"), LOCAL_RANK="0") in ([[], []], [["1"], []], [[], ["0"]])


def in_a_folder(rank: int) -> tuple[str, bool]:
    with folder_of_rank_0(TemporaryDirectory()) as folder:
        if rank == 0:
            Path(folder, "file").write_text("text")
        all_ranks(True)
        return folder, Path(folder, "file").exists()


def test_a_temporary_folder_is_there_until_all_have_left_it():
    (folder, seen), *others = on_ranks(2, in_a_folder)
    assert others == [(folder, seen)] == [(folder, True)]
    assert not Path(folder).exists()


def test_a_temporary_folder_outlives_its_names():
    folder = Path(lasting(TemporaryDirectory()).name)
    assert folder.exists()


def fail(rank: int, failing: int) -> None:
    with first_on_rank_0():
        if rank == failing:
            raise OSError("no network")
    any_rank(False)


def test_when_the_first_fails_all_do():
    first, other = run_ranks(2, fail, 0)
    assert isinstance(first, OSError)
    assert isinstance(other, RuntimeError)
    assert str(other) == "the process that went first has failed"


def test_when_another_fails_it_says_so():
    assert isinstance(run_ranks(2, fail, 1)[1], OSError)


@pytest.mark.parametrize("world_size", [1, 2])
def test_the_body_runs_once_in_each_process(world_size, tmp_path):
    on_ranks(world_size, download, str(tmp_path / "file"))
    assert sorted((tmp_path / "file").read_text().split()) == [str(rank) for rank in range(world_size)]
