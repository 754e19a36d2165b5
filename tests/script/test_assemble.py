"""The script as a whole."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest

import nbddp
from nbddp.fingerprint import edited_since_export
from nbddp.options import Options
from tests.analysis.cells import BEFORE, TRAINING, batch, notebook


def script(*cells: str, options: Options | None = None) -> str:
    return nbddp.export(notebook(*cells), options).text


def train(text: str) -> str:
    return text[text.index("def train(") : text.index("\n\n\n", text.index("def train(")) + 1]


def test_it_compiles_and_ends_in_one_newline():
    text = script(*BEFORE, TRAINING)
    ast.parse(text)
    assert text.endswith("main()\n")
    assert not re.search(r"\n\n\n\n|[ \t]\n", text)


def test_it_is_sealed():
    text = script(*BEFORE, TRAINING)
    assert not edited_since_export(text)
    assert edited_since_export(text.replace("range(3)", "range(4)"))


def test_a_shell_understands_its_first_lines():
    text = nbddp.export(replace(notebook(*BEFORE, TRAINING), name="my digits.ipynb")).text
    assert "    python 'my digits_ddp.py' --nproc 4 " in text


def test_every_name_is_bound():
    """What the module's code names is imported, defined or built in."""
    tree = ast.parse(script(*BEFORE, batch("n = loss.item()", "print(n)")))
    bound = set(dir(__builtins__)) | set(__builtins__ if isinstance(__builtins__, dict) else ())
    bound |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {
        n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler) and n.name
    }
    bound |= {a.arg for a in ast.walk(tree) if isinstance(a, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(a.asname or a.name).split(".")[0] for a in node.names}
    assert not {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} - bound - {"__file__", "__name__"}


def test_no_helper_is_there_that_nothing_uses():
    text = script(*BEFORE, TRAINING)
    tree = ast.parse(text)
    defined = {n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    assert not defined - used
    assert "gather_in_order" not in text


def test_cells_have_titles():
    titles = re.findall(r"# ── (cell \d+.*?) ─", script(*BEFORE, TRAINING))
    assert titles == ["cell 2", "cell 3", "cell 4: the training loop"]


def test_strings_of_several_lines_stay_as_they_are():
    text = script(*BEFORE, TRAINING + 'told = [epoch, """three\n  four"""]\n')
    assert '    told = [epoch, """three\n  four"""]\n' in train(text)


@pytest.mark.parametrize(
    "name", ["train", "rank", "world_size", "main", "DDP", "dist", "per_rank", "run", "args", "device", "argparse"]
)
def test_names_of_the_notebook_stay_the_notebooks(name):
    text = script(*BEFORE, f"{name} = len(train_set)", TRAINING.replace("range(3)", f"range({name})"))
    compile(text, "script", "exec")
    assert f"    {name} = len(train_set)\n" in text
    assert f"range({name})" in text


def test_line_map():
    made = nbddp.export(notebook(*BEFORE, TRAINING))
    lines = made.text.split("\n")
    places = {line.strip(): place for line, place in zip(lines, made.line_map, strict=True) if place}
    assert places["loss.backward()"] == (4, 5)
    assert places["optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"] == (3, 2)


def test_options():
    assert "default=3" in script(*BEFORE, TRAINING, options=Options(nproc=3))
    assert "per_rank" not in script(*BEFORE, TRAINING, options=Options(batch_per_rank=True))
    assert "convert_sync_batchnorm" in script(*BEFORE, TRAINING, options=Options(sync_batchnorm=True))


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("def half(self):\n        return super().half()", "model.half()"),
        ("def __init__(self, n, m):\n        super().__init__(n, m)\n        self.type = 'mlp'", "print(model.type)"),
        ("type = 'mlp'", "print(model.type)"),
    ],
)
def test_a_model_keeps_names_that_torch_has_too(body, asked):
    """DDP would answer with torch's own: the model itself is asked, and has its own class."""
    base = f"class Base(nn.Linear):\n    {body}\n\n\nclass Net(Base):\n    pass\n\n\nmodel = Net(8, 2)"
    model = f"{base}\n{BEFORE[2].strip().splitlines()[1]}"
    text = script(*BEFORE[:2], model, f"{TRAINING}\n{asked}")
    assert "    ddp_model = DDP(model)" in text
    assert f"    {asked}\n" in text
    assert "class DDP" not in text


def test_a_forward_of_its_own_is_no_such_name():
    base = "class Net(nn.Linear):\n    def forward(self, x):\n        return super().forward(x)\n\n\nmodel = Net(8, 2)"
    model = f"{base}\n{BEFORE[2].strip().splitlines()[1]}"
    assert "def __getattribute__" not in script(*BEFORE[:2], model, TRAINING.replace("model(x)", "model.forward(x)"))


@pytest.mark.parametrize(
    "line", ["from numpy import *", "from numpy import max", "def max(a, b):\n    return b", "from pylab import *"]
)
def test_helpers_call_python_whatever_the_notebook_has_put_in_its_place(line):
    text = script(line, *BEFORE, TRAINING.replace("range(3)", "range(max(3, 2))"))
    assert "builtins.max(1, torch.get_num_threads()" in text
    assert "\nimport builtins\n" in text
    assert "builtins" not in script("from math import *", *BEFORE, TRAINING)
