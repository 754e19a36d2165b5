"""What a script takes over by value, and which cells it then does without."""

from __future__ import annotations

import ast
import re

import pytest

from nbddp.diagnostics import CannotExport
from nbddp.export import Script, export
from nbddp.notebook import Notebook, cell_from_source
from nbddp.options import Options

IMPORTS = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader, Dataset, TensorDataset"
MODEL = "model = nn.Linear(4, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)"
TRAIN = """\
%%ddp_train --snapshot {names}
for epoch in range(2):
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()"""
DATA = """\
import os
os.makedirs("cache", exist_ok=True)
xs = torch.load("large.pt"); ys = xs.sum(1, keepdim=True)
xs -= xs.mean(0)
torch.save(xs, "cache/xs.pt")"""
LOADER = "loader = DataLoader(TensorDataset(xs, ys), batch_size=8, shuffle=True)"


def exported(*cells: str, names: str = "xs,ys", options: Options | None = None) -> Script:
    sources = (IMPORTS, *cells, MODEL, TRAIN.format(names=names))
    return export(Notebook("x.ipynb", tuple(cell_from_source(c, n) for n, c in enumerate(sources, 1))), options)


def body(script: Script) -> str:
    """Without comments and blank lines."""
    tree = ast.parse(script.text)
    [train] = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "train"]
    return ast.unparse(train)


def errors(*cells: str, names: str) -> list[str]:
    with pytest.raises(CannotExport) as refused:
        exported(*cells, names=names)
    return [found.message for found in refused.value.diagnostics if found.level == "error"]


def test_what_only_makes_them_is_left_out():
    script = exported(DATA, LOADER)
    text = body(script)
    assert "xs = from_snapshot('xs')" in text
    assert "ys = from_snapshot('ys')" in text
    assert not any(word in text for word in ("torch.load('large.pt')", "xs -=", "torch.save", "makedirs"))
    assert script.plan.handed_over == ("xs", "ys")
    assert script.diagnostics == ()
    assert "nbddp" not in script.text.partition('"""\n')[2]


def test_consumers_in_the_cell_that_makes_them_get_the_values():
    text = body(exported(f"{DATA}\n{LOADER}"))
    assert text.index("from_snapshot('ys')") < text.index("TensorDataset(xs, ys)")
    assert "torch.load('large.pt')" not in text


def test_without_it_the_cells_run():
    assert "from_snapshot" not in exported(DATA, LOADER, options=Options(snapshot=())).text


def test_what_else_a_statement_makes_keeps_it_and_that_is_said():
    script = exported("xs, ys = torch.load('large.pt')", LOADER, names="xs")
    assert re.search(r"xs, ys\)? = torch\.load\('large\.pt'\)", body(script))  # as Python 3.10 writes it, too
    [warning] = script.diagnostics
    assert (warning.cell, warning.message) == (
        2,
        "'xs' comes from the snapshot, but this code still runs: it also creates ys",
    )


def test_an_earlier_value_that_is_read_is_not_mixed_up_with_the_last():
    """The mean is that of the raw values; with the last ones it would be zero."""
    raw = "xs = torch.load('large.pt')\nmean = xs.mean(0)\nxs = xs - mean\nys = torch.ones(64, 1)"
    script = exported(raw, LOADER.replace("(xs, ys)", "(xs + mean, ys)"))
    assert "mean = xs.mean(0)" in body(script)
    assert "something reads it before it is complete" in script.diagnostics[0].message


def test_classes_and_functions_that_a_value_may_hold_are_kept_with_what_they_read():
    definitions = """\
scale = 2.0
def halved(x):
    return x / scale
def large(path):
    return torch.load(path)
class Pairs(Dataset):
    def __init__(self, xs, transform):
        self.xs, self.transform = xs, transform
    def __len__(self):
        return len(self.xs)
    def __getitem__(self, i):
        return self.transform(self.xs[i]), self.xs[i, :1]"""
    data = "train_set = Pairs(large('large.pt'), halved)"
    loader = "loader = DataLoader(train_set, batch_size=8, shuffle=True)"
    text = exported(definitions, data, loader, names="train_set").text
    names = {getattr(node, "name", "") for node in ast.parse(text).body}
    assert {"Pairs", "halved"} <= names
    assert "large" not in names
    assert "\nscale = 2.0\n" in text


def test_what_the_training_does_not_need_is_not_asked_for():
    script = exported(DATA, "extra = torch.zeros(3)", LOADER, names="xs,ys,extra")
    assert script.plan.handed_over == ("xs", "ys")
    assert [found.message for found in script.diagnostics] == [
        "the training does not use 'extra', so the snapshot leaves it out"
    ]


def test_what_cannot_go_by_value():
    data = (DATA, LOADER)
    assert errors(*data, names="xz") == ["--snapshot names 'xz', but no cell before the training cell defines it"]
    assert errors(*data, names="nn") == ["'nn' is a function, a class or a module, which the script contains anyway"]
    loader, model = errors(*data, names="loader,model")
    assert loader.startswith(
        "a snapshot cannot hold 'loader': it is a DataLoader, and each process builds its own: name"
    )
    assert model == "a snapshot cannot hold 'model': it is a model, whose current state the training starts from anyway"
    assert errors(*data, "from_snapshot = 1", "a = from_snapshot", names="xs")[0].startswith(
        "the notebook defines 'from_snapshot'"
    )
