"""Arguments of `DataLoader` by name, however they are given."""

from __future__ import annotations

import pytest

from nbddp.analysis.loaders.loader_calls import LoaderCall, is_endless, loader_call
from tests.analysis.cells import DATA, IMPORTS, MODEL, TRAINING, plan

MORE = """
from functools import partial
options = {"num_workers": 0}
large = {"batch_size": 10}
Mine = partial(DataLoader, shuffle=True)
"""


def call(text: str) -> LoaderCall:
    made = plan(IMPORTS, DATA + MORE + f"{text}\n", MODEL, TRAINING)
    (obj,) = made.sharding.loaders
    found = loader_call(made, obj)
    assert found is not None
    return found


def shown(of: LoaderCall) -> dict[str, object]:
    return {name: of.constant(name) for name in of.arguments}


def test_by_place_and_by_name():
    found = call("train_loader = DataLoader(train_set, 10, shuffle=True, sampler=None)")
    assert shown(found) == {"dataset": None, "batch_size": 10, "shuffle": True, "sampler": None}
    assert (found.name, found.plain) == ("train_loader", True)


@pytest.mark.parametrize(("name", "given"), [("shuffle", True), ("sampler", False), ("batch_sampler", False)])
def test_none_is_as_good_as_nothing(name, given):
    assert call("train_loader = DataLoader(train_set, 10, shuffle=True, sampler=None)").gives(name) is given


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("train_loader = DataLoader(train_set, batch_size=10, **options)", True),
        ("train_loader = DataLoader(train_set, **large)", False),
        ("train_loader = DataLoader(*[train_set, 10])", False),
        ("train_loader = Mine(train_set, batch_size=10)", False),
    ],
)
def test_whether_nothing_that_is_drawn_is_hidden(text, plain):
    assert call(text).plain is plain


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("train_loader = DataLoader(train_set, 10)", "train_loader"),
        ("train_loader, n = DataLoader(train_set, 10), 3", None),
        ("train_loader = other = DataLoader(train_set, 10)", None),
    ],
)
def test_the_variable_that_gets_it(text, name):
    assert call(text).name == name


@pytest.mark.parametrize(
    ("length", "endless"),
    [("sys.maxsize", True), ("int(1e12)", True), ("2000000000", True), ("1000", False), ("len(self.x)", False)],
)
def test_data_without_an_end(length, endless):
    lines = ["import sys", "class Own(torch.utils.data.Dataset):", "    def __getitem__(self, i):",
             "        return torch.randn(8), 1", "    def __len__(self):", f"        return {length}"]  # fmt: skip
    text = "\n".join(lines) + "\ntrain_loader = DataLoader(Own(), 10)\n"
    made = plan(IMPORTS, DATA + text, MODEL, TRAINING)
    (obj,) = made.sharding.loaders
    found = loader_call(made, obj)
    assert found is not None
    assert is_endless(made, found) is endless
