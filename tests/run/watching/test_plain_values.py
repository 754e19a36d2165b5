"""What goes into files: plain data only, so that reading one runs no code."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from nbddp.run.watching.plain_values import comes_back, not_plain, plain, save_whole


def through_a_file(value: Any, path: Path) -> Any:
    save_whole(plain(value), str(path))
    return torch.load(path, weights_only=True)


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2.5, True, None, "x"], 3: (1, (2,)), None: {}},
        collections.OrderedDict(a=1),
        collections.Counter("aab"),
        10**30,
        [],
    ],
)
def test_plain_values_come_back_as_they_were(value, tmp_path):
    back = through_a_file(value, tmp_path / "file")
    assert back == value
    assert type(back) is type(value)


def test_some_come_back_as_their_plain_kind(tmp_path):
    assert through_a_file(collections.defaultdict(list, {1: [2]}), tmp_path / "file") == {1: [2]}
    assert through_a_file((np.float64(0.5), np.int32(3), np.bool_(True)), tmp_path / "file") == (0.5, 3, True)
    array = through_a_file(np.arange(4).reshape(2, 2)[:, ::-1], tmp_path / "file")
    assert array["__ndarray__"].tolist() == [[1, 0], [3, 2]]


def test_arrays_come_back_as_arrays_where_they_are_wanted(tmp_path):
    whole = {"a": [np.arange(3), (1, np.ones((2, 2)))], "b": "text", "c": torch.ones(1)}
    back = not_plain(through_a_file(whole, tmp_path / "file"))
    assert isinstance(back["a"][0], np.ndarray)
    assert back["a"][0].tolist() == [0, 1, 2]
    assert back["a"][1][1].tolist() == [[1, 1], [1, 1]]
    assert (back["b"], back["c"].tolist()) == ("text", [1])


ROW = collections.namedtuple("ROW", "epoch loss")


@pytest.mark.parametrize(
    ("value", "exactly"),
    [
        ({"a": [1, 2.5, True, None, "x"], 3: (1, (2,)), "t": torch.ones(2), "n": np.ones(2)}, True),
        (collections.OrderedDict(a=(torch.ones(1) * torch.ones(1, requires_grad=True),)), True),
        ([np.float64(0.5)], False),
        ({np.int64(3): 1}, False),
        (collections.defaultdict(list), False),
        ([ROW(1, 0.5)], False),
        ({"w": torch.ones(2, requires_grad=True)}, False),
        (nn.Parameter(torch.ones(2)), False),
        (torch.ones(2, device="meta"), False),
    ],
)
def test_what_a_file_of_plain_values_gives_back_as_it_was(value, exactly):
    assert comes_back(value) is exactly


def test_tensors_are_saved_without_graph_and_without_what_they_are_a_view_of(tmp_path):
    large = torch.zeros(100000, requires_grad=True)
    back = through_a_file({"x": large[:2] * 1, "y": large[:2]}, tmp_path / "file")
    assert not back["x"].requires_grad
    assert (tmp_path / "file").stat().st_size < 5000


def test_a_models_state_keeps_the_versions_of_its_modules(tmp_path):
    back = through_a_file(nn.BatchNorm1d(2).state_dict(), tmp_path / "file")
    assert back._metadata == {"": {"version": 2}}


@pytest.mark.parametrize("value", [nn.Linear(1, 1), {1, 2}, [lambda: 0], {"a": {"b": object()}}, np.array(["x"]), open])
def test_nothing_else_is_taken(value):
    with pytest.raises((TypeError, ValueError)):
        plain(value)


def test_half_a_file_is_never_seen(tmp_path, monkeypatch):
    save_whole([1], str(tmp_path / "file"))

    def full(*_: Any) -> None:
        Path(tmp_path / "file.part").write_text("half")
        raise OSError("no space left")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(OSError, match="no space"):
        save_whole([2], str(tmp_path / "file"))
    assert torch.load(tmp_path / "file", weights_only=True) == [1]
