"""`--snapshot`: values of the kernel, handed over in a real run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from nbddp.cli import main
from nbddp.cli.parse import Refusal
from nbddp.magics.handover.by_value import ByValue, by_value
from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.folder.folder import RunFolder
from tests.magics.conftest import BODY
from tests.magics.kernel import Kernel

pytestmark = pytest.mark.thorough

SLOW = """\
import numpy as np
from torch.utils.data import Dataset

class Pairs(Dataset):
    def __init__(self, inputs, targets):
        self.inputs, self.targets = inputs, targets
    def __len__(self):
        return len(self.inputs)
    def __getitem__(self, i):
        return torch.from_numpy(self.inputs[i]), self.targets[i]

with open("made.txt", "a") as file:
    file.write("made\\n")
train_set = Pairs(np.random.default_rng().normal(size=(64, 4)).astype("float32"), torch.ones(64, 1))
loader = DataLoader(train_set, batch_size=8, shuffle=True)"""
MAPPED = "print('mapped' if 'snapshot.pt' in open('/proc/self/maps').read() else 'copied')"
TRAIN = f"%%ddp_train --snapshot train_set\n{BODY}\n{MAPPED}\nfirst = float(train_set.inputs[0, 0])"


@pytest.fixture
def prepared(kernel: Kernel) -> Any:
    reply = kernel.run(SLOW, "slow")
    assert reply.status == "ok", reply.error
    yield kernel
    kernel.run("", "slow")
    kernel.run("from tests.magics.conftest import DATA; exec(DATA)", "data again")
    kernel.run("", "data again")


def test_the_slow_cell_is_not_run_again_and_the_values_are_the_kernels(prepared, folder):
    reply = prepared.run(TRAIN, "train")
    assert reply.status == "ok", reply.error
    assert (folder / "made.txt").read_text() == "made\n"
    assert prepared.value("first == float(train_set.inputs[0, 0])") == "True"
    assert [prepared.value(f"'mapped' in run.log({rank})") for rank in range(2)] == ["True", "True"]
    script = folder / "by_hand.py"
    script.write_text(prepared.value("run.script"))
    words = [sys.executable, str(script)]
    environ = os.environ | {"OMP_NUM_THREADS": "1"}
    alone = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environ, check=False)
    assert alone.returncode == 2
    assert "a run from the notebook leaves train_set there, as snapshot.pt in its folder" in alone.stderr
    words += ["--snapshot", prepared.value("run.folder.snapshot")]
    given = subprocess.run(words, capture_output=True, text=True, cwd=folder, env=environ, check=True)
    assert given.stdout.count("epoch ") == 3
    assert "mapped" in given.stdout


def test_what_cannot_be_pickled_gets_a_sentence(prepared):
    prepared.aside("train_set.inputs = (number for number in range(3))")
    reply = prepared.run(TRAIN, "train")
    assert reply.status == "error"
    assert "'train_set' cannot be saved (cannot pickle 'generator' object): name the values" in reply.error
    assert "Traceback" not in reply.error
    prepared.aside("del train_set")
    assert "the kernel has no train_set: run the cell that creates it" in prepared.run(TRAIN, "train").error


def test_arrays_in_frames_and_lists_come_back_the_same(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"], "c": pd.to_datetime(["2020-01-01", "2021-01-01"])})
    fixed = np.arange(3)
    fixed.flags.writeable = False
    values = {
        "frame": frame,
        "list": [np.arange(6).reshape(2, 3)[:, ::-1], fixed, np.array(["a"], dtype=object), np.float64(2.5)],
        "tensor": torch.arange(4.0),
    }
    folder = RunFolder(tmp_path)
    ByValue(values).write(folder)
    back = torch.load(folder.snapshot, mmap=True, weights_only=False)
    pd.testing.assert_frame_equal(back["frame"], frame)
    for before, after in zip(values["list"], back["list"], strict=True):  # type: ignore[call-overload]
        np.testing.assert_array_equal(before, after)
        assert type(before) is type(after)
    back["list"][0][0, 0] = 7
    assert torch.equal(back["tensor"], torch.arange(4.0))


def test_a_full_disk_and_a_name_that_is_not_there():
    with pytest.raises(LaunchFailed, match="The values of xs could not be saved"):
        ByValue({"xs": torch.ones(3)}).write(RunFolder(Path("/nowhere")))
    plan: Any = SimpleNamespace(handed_over=("xs",))
    with pytest.raises(Refusal, match="the kernel has no xs"):
        by_value(plan, {})


def test_a_terminal_has_no_values(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    imports = "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader"
    model = "model = nn.Linear(4, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nepochs = 1"
    Path("x.py").write_text("\n\n".join(f"# %%\n{cell}" for cell in (imports, SLOW, model, f"# {TRAIN}")))
    assert main(["run", "x.py"]) == 2
    assert "the training cell takes train_set from a running notebook" in capsys.readouterr().err
