"""Names by what they stand for, however they were imported."""

from __future__ import annotations

import ast

import pytest

from nbddp.analysis.syntax.qualified_names import bindings, canonical, dotted, imported_names, qualified


@pytest.mark.parametrize(
    ("source", "expression", "name"),
    [
        ("import torch", "torch.save", "torch.save"),
        ("import torch as t", "t.utils.data.DataLoader", "torch.utils.data.DataLoader"),
        ("import torch.utils.data", "torch.utils.data.DataLoader", "torch.utils.data.DataLoader"),
        ("from torch.utils import data", "data.DataLoader", "torch.utils.data.DataLoader"),
        ("from torch.utils.data.dataloader import DataLoader as D", "D", "torch.utils.data.DataLoader"),
        ("from torch.nn.modules.loss import MSELoss", "MSELoss", "torch.nn.MSELoss"),
        ("from tqdm.auto import tqdm", "tqdm", "tqdm.tqdm"),
        ("from tqdm.notebook import tqdm as bar", "bar", "tqdm.tqdm"),
        ("from torch.cuda.amp import GradScaler", "GradScaler", "torch.amp.GradScaler"),
        ("from .mine import net", "net", ".mine.net"),
        ("x = 1", "print", "print"),
        ("x = 1", "x.save", None),
        ("import torch", "torch.zeros(1).sum", None),
    ],
)
def test_qualified(source, expression, name):
    names = imported_names(ast.walk(ast.parse(source)))
    assert qualified(ast.parse(expression, mode="eval").body, names) == name


def test_the_last_import_of_a_name_counts():
    assert imported_names(ast.walk(ast.parse("from a import x\nfrom b import x")))["x"] == "b.x"


def test_bindings():
    (node,) = ast.parse("from a import b as c, d").body
    assert isinstance(node, ast.ImportFrom)
    assert list(bindings(node)) == [("c", "a.b"), ("d", "a.d")]


def test_dotted():
    assert dotted(ast.parse("a.b.c", mode="eval").body) == "a.b.c"
    assert dotted(ast.parse("a[0].c", mode="eval").body) is None


def test_canonical_names_stay():
    for name in ("torch.utils.data.DataLoader", "torch.autograd.Variable", "tqdm.tqdm"):
        assert canonical(name) == name
