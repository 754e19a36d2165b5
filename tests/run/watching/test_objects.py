"""What the kernel has no object for comes back whole, and what it has is meant by its name."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from nbddp.magics.handover.whole_objects import read_objects
from nbddp.run.folder.folder import RunFolder
from nbddp.run.watching.objects import names_of_kernel, save_objects


class Keeper:
    """A class of the cells."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)


@pytest.fixture(autouse=True)
def of_the_cells(monkeypatch):
    monkeypatch.setattr(Keeper, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "Keeper", Keeper, raising=False)


def back(folder, things, kernel=None, scope=None):
    """What a kernel with these names gets, and what was left out."""
    kernel = {"Keeper": Keeper, **(kernel or {})}
    left_out = save_objects(things, {**things, **(scope or {})}, frozenset(kernel), folder / "objects.pt")
    objects, why = read_objects(RunFolder(folder), kernel)
    assert why == ""
    return objects, left_out


def test_things_know_each_other_as_they_did(tmp_path):
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    keeper = Keeper(model=model, best=[1.0])
    found, left_out = back(tmp_path, {"model": model, "optimizer": optimizer, "keeper": keeper})
    assert left_out == {}
    assert found["optimizer"].param_groups[0]["params"][0] is found["model"].weight
    assert found["keeper"].model is found["model"]
    assert found["keeper"].best == [1.0]
    assert torch.equal(found["model"].weight, model.weight)


def test_what_the_kernel_has_is_its_own(tmp_path):
    """Also parts of a model, an attribute of an object, and a loader, which no process could send."""
    theirs, here = nn.Sequential(nn.Linear(2, 1)), nn.Sequential(nn.Linear(2, 1))
    optimizer = torch.optim.SGD(theirs.parameters(), lr=0.1)
    scope = {"model": theirs, "loader": DataLoader([1]), "trainer": Keeper(net=nn.Linear(1, 1))}
    kernel = {"model": here, "loader": DataLoader([2]), "trainer": Keeper(net=nn.Linear(1, 1))}
    keeper = Keeper(loader=scope["loader"], net=scope["trainer"].net, first=theirs[0])
    found, left_out = back(tmp_path, {"optimizer": optimizer, "keeper": keeper}, kernel, scope)
    assert left_out == {}
    assert found["optimizer"].param_groups[0]["params"][0] is here[0].weight
    assert found["keeper"].loader is kernel["loader"]
    assert found["keeper"].net is kernel["trainer"].net
    assert found["keeper"].first is here[0]


def test_of_an_object_that_the_kernel_has_too_only_what_has_a_state_is_its_own(tmp_path):
    trainer, here = Keeper(net=nn.Linear(1, 1), best=Keeper(loss=0.5)), Keeper(net=nn.Linear(1, 1))
    found, _ = back(tmp_path, {"trainer": trainer}, {"trainer": here})
    assert found["trainer"].net is here.net
    assert found["trainer"].best.loss == 0.5


def test_functions_without_a_name_come_by_their_code(tmp_path):
    wide = 3
    function = as_in_a_cell(lambda x, y=1: x + y + wide + other)  # noqa: F821 -- the kernel has it
    found, left_out = back(tmp_path, {"keeper": Keeper(f=function)}, {"other": 10})
    assert left_out == {}
    assert found["keeper"].f(1) == 15


def as_in_a_cell(function):
    function.__module__ = "__mp_main__"
    return function


def test_what_cannot_come_is_named_and_the_rest_comes(tmp_path):
    class Own:
        pass

    Own.__module__, Own.__qualname__ = "__main__", "Own"
    things = {
        "loader": Keeper(of=[DataLoader([1])]),
        "own": Own(),
        "file": Keeper(file=(line for line in "abc")),
        "good": Keeper(n=1),
    }
    found, left_out = back(tmp_path, things)
    assert list(found) == ["good"]
    assert left_out["loader"] == "each process has its own"
    assert left_out["own"] == "Own is a class that only the processes have"
    assert "generator" in left_out["file"]


def test_what_wraps_a_model_does_not_come_back(tmp_path):
    model = nn.Linear(2, 1)
    found, _ = back(tmp_path, {"keeper": Keeper(model=nn.DataParallel(model))})
    assert type(found["keeper"].model) is nn.Linear


def test_a_kernel_that_cannot_make_them_is_told_why(tmp_path):
    save_objects({"keeper": Keeper()}, {}, frozenset({"Keeper"}), tmp_path / "objects.pt")
    found, why = read_objects(RunFolder(tmp_path), {})
    assert found == {}
    assert why == "it could not be made here: KeyError: 'Keeper'"


def test_only_a_kernel_asks_for_them(tmp_path):
    assert names_of_kernel(tmp_path / "kernel.json") is None
    (tmp_path / "kernel.json").write_text(json.dumps(["model"]))
    assert names_of_kernel(tmp_path / "kernel.json") == {"model"}
