"""Calls that write, fetch, unpack or read files: what is missed here is written by all ranks at once."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from nbddp.analysis import Plan
from nbddp.analysis.reading import fetches, loads, makes_folders, opens_to_write, path_of, unpacks, writes
from tests.analysis.cells import BEFORE, batch, node, plan

NAMES = """
import io, json, logging, os, shutil, subprocess, zipfile
import pandas as pd
import torchvision
from pathlib import Path
from torchvision.models import resnet18, ResNet18_Weights
from transformers import AutoModel
frame = pd.DataFrame()
buffer = io.BytesIO()
class Log:
    def save(self):
        return 1
log = Log()
"""
Question = Callable[[Plan, ast.AST], bool]


def asked(question: Question, call: str) -> bool:
    made = plan(*BEFORE, NAMES, batch(f"n = {call}"))
    return question(made, node(made, ast.Call, call))


@pytest.mark.parametrize(
    ("question", "call"),
    [
        (opens_to_write, "open('a', 'w')"),
        (opens_to_write, "open('a', mode='ab')"),
        (opens_to_write, "Path('a').open('w')"),
        (opens_to_write, "archive.open('a', 'w')"),
        (opens_to_write, "logging.FileHandler('a')"),
        (opens_to_write, "logging.basicConfig(filename='a')"),
        (writes, "torch.save(model, 'a')"),
        (writes, "frame.to_csv('a')"),
        (writes, "frame.save('a')"),
        (writes, "json.dump({}, frame)"),
        (writes, "os.makedirs('a')"),
        (fetches, "torchvision.datasets.MNIST('.', download=True)"),
        (fetches, "torchvision.datasets.MNIST('.', True, None, None, True)"),
        (fetches, "resnet18(pretrained=True)"),
        (fetches, "resnet18(True)"),
        (fetches, "resnet18(ResNet18_Weights.DEFAULT)"),
        (fetches, "AutoModel.from_pretrained('a')"),
        (fetches, "torch.hub.load('a', 'b')"),
        (unpacks, "zipfile.ZipFile('a').extractall('b')"),
        (unpacks, "subprocess.run(['ls'])"),
        (unpacks, "shutil.unpack_archive('a')"),
        (makes_folders, "os.mkdir('a')"),
        (makes_folders, "Path('a').mkdir()"),
        (loads, "torch.load('a')"),
    ],
)
def test_these_do(question, call):
    assert asked(question, call)


@pytest.mark.parametrize(
    ("question", "call"),
    [
        (opens_to_write, "open('a')"),
        (opens_to_write, "open('a', 'rb')"),
        (opens_to_write, "archive.open('data.xlsx')"),  # a name of letters that modes are made of, and others
        (opens_to_write, "logging.basicConfig(level=1)"),
        (writes, "torch.save(model, buffer)"),
        (writes, "torch.save(model, io.BytesIO())"),
        (writes, "log.save()"),
        (writes, "json.dumps({})"),
        (fetches, "torchvision.datasets.MNIST('.', download=False)"),
        (fetches, "torchvision.datasets.MNIST('.', True)"),
        (fetches, "resnet18(pretrained=False)"),
        (fetches, "resnet18(weights=None)"),
        (unpacks, "zipfile.ZipFile('a')"),
        (makes_folders, "os.makedirs('a', exist_ok=True)"),
        (makes_folders, "os.listdir('a')"),
        (loads, "json.loads('1')"),
    ],
)
def test_these_do_not(question, call):
    assert not asked(question, call)


@pytest.mark.parametrize(
    ("call", "path"),
    [
        ("open('a', 'w')", "'a'"),
        ("open(file=name)", "name"),
        ("gzip.open(name, 'wb')", "name"),
        ("Path(name).open('w')", None),
        ("logging.FileHandler(name)", "name"),
        ("logging.basicConfig(filename=name)", "name"),
        ("logging.basicConfig(level=1)", None),
    ],
)
def test_the_argument_that_names_the_file(call, path):
    parsed = ast.parse(call, mode="eval").body
    assert isinstance(parsed, ast.Call)
    found = path_of(parsed)
    assert (ast.unparse(found) if found is not None else None) == path
