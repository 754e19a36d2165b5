"""What a script goes on from, and what it keeps."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from nbddp.script.parts import checkpoints
from nbddp.script.parts.batches import Reshuffled
from nbddp.script.parts.checkpoints import RestOf, find_checkpoint, interval


@pytest.fixture(autouse=True)
def _started_by_nobody(monkeypatch):
    for name in ("TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT", "TORCHELASTIC_RUN_ID"):
        monkeypatch.delenv(name, raising=False)


def test_what_is_there_is_gone_on_with_or_kept(tmp_path, capsys):
    file = str(tmp_path / "deep" / "x.pt")
    assert find_checkpoint(file, "auto") is None
    torch.save({"run": None}, file)
    assert find_checkpoint(file, "auto") == file
    assert find_checkpoint(file, file) == file
    assert find_checkpoint(file, None) is None
    assert "it is" in capsys.readouterr().err
    assert (tmp_path / "deep" / "x.pt.old").exists()
    assert not (tmp_path / "deep" / "x.pt").exists()
    with pytest.raises(SystemExit, match="there is no such file"):
        find_checkpoint(file, file)


@pytest.mark.parametrize(
    ("name", "value", "goes_on"),
    [
        ("TORCHELASTIC_RESTART_COUNT", "1", True),
        ("TORCHELASTIC_RESTART_COUNT", "0", False),
        ("SLURM_RESTART_COUNT", "2", True),
        ("TORCHELASTIC_RUN_ID", "mine", True),
        ("TORCHELASTIC_RUN_ID", "other", False),
        ("TORCHELASTIC_RUN_ID", "none", False),
    ],
)
def test_one_that_is_started_again_goes_on_by_itself(tmp_path, monkeypatch, name, value, goes_on):
    file = str(tmp_path / "x.pt")
    torch.save({"run": "mine"}, file)
    monkeypatch.setenv(name, value)
    assert find_checkpoint(file, None) == (file if goes_on else None)


def test_a_file_of_something_else_is_not_taken_for_one(tmp_path, monkeypatch):
    file = str(tmp_path / "x.pt")
    torch.save([1, 2], file)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "mine")
    assert find_checkpoint(file, None) is None
    assert (tmp_path / "x.pt.old").exists()


def test_how_often():
    found = [interval(text) for text in ("500", "90s", "10m", "2h", "3e")]
    assert found == [(500, ""), (90.0, "s"), (600.0, "s"), (7200.0, "s"), (3, "e")]
    for wrong in ("0", "-3", "m", "often"):
        with pytest.raises(ValueError, match=r".+"):
            interval(wrong)


def test_batches_that_are_done_are_not_loaded(monkeypatch):
    asked = []

    class Data(TensorDataset):
        def __getitem__(self, index):
            asked.append(index)
            return super().__getitem__(index)

    loader = DataLoader(Data(torch.arange(12)), batch_size=3)
    monkeypatch.setattr(checkpoints, "checkpoints", checkpoints.Checkpoints())
    checkpoints.checkpoints.batches = 2
    rest = RestOf(loader)
    assert len(rest) == 4
    assert [batch[0].tolist() for batch in rest] == [[6, 7, 8], [9, 10, 11]]
    assert asked == list(range(6, 12))
    assert checkpoints.checkpoints.batches == 4


def test_a_sampler_that_counts_for_itself_draws_the_same_order(monkeypatch):
    data = TensorDataset(torch.arange(12))

    def loader():
        sampler = Reshuffled(data, num_replicas=1, rank=0, seed=3)
        return DataLoader(data, batch_size=3, sampler=sampler)

    monkeypatch.setattr(checkpoints, "checkpoints", checkpoints.Checkpoints())
    first = loader()
    batches = [[batch[0].tolist() for batch in first] for _ in range(2)]
    checkpoints.checkpoints.batches, checkpoints.checkpoints.order = 2, (1, 3)
    again = loader()
    assert [batch[0].tolist() for batch in RestOf(again)] == batches[1][2:]
    assert checkpoints.checkpoints.stops


def test_an_order_that_is_not_known_again_is_not_stopped_in(monkeypatch):
    monkeypatch.setattr(checkpoints, "checkpoints", checkpoints.Checkpoints())
    shuffled = DataLoader(TensorDataset(torch.arange(4)), shuffle=True, generator=torch.Generator())
    assert len(list(RestOf(shuffled))) == 4
    assert not checkpoints.checkpoints.stops
    assert not checkpoints.checkpoints.due()


def test_a_stream_is_drawn_from_as_often(monkeypatch):
    monkeypatch.setattr(checkpoints, "checkpoints", checkpoints.Checkpoints())
    checkpoints.checkpoints.batches = 3
    assert list(itertools.islice(RestOf(itertools.count()), 2)) == [3, 4]
