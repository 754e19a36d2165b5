"""Bad input gets a sentence; the kernel lives on, and nothing that it holds is lost."""

from __future__ import annotations

import pytest

from tests.magics.conftest import TRAIN

pytestmark = pytest.mark.thorough

CASES = {
    "an option that there is not": ("--npoc 2", "no option '--npoc' (did you mean '--nproc'?)"),
    "no process at all": ("--nproc 0", "it takes a number of processes, at least 1, not '0'"),
    "a device that there is not": ("--devices 7", "There is no GPU 7: "),
    "no checkpoint": ("--resume nothing.pt", "nothing.pt to resume from."),
    "a file that is none": (
        "--resume 'digits & co.ipynb'",
        "digits & co.ipynb is not a complete checkpoint",
    ),
    "an open quotation mark": ("--export 'x", "No closing quotation"),
    "parameters that would build another optimizer": ("-- --lr 0.5", "add --fresh to start from the beginning"),
}


@pytest.mark.parametrize(("options", "sentence"), CASES.values(), ids=CASES)
def test_options(kernel, options, sentence):
    reply = kernel.run(TRAIN.replace("train", f"train {options}", 1), "train")
    assert reply.status == "error"
    assert sentence in reply.error
    assert "Traceback" not in reply.error
    assert kernel.value("6 * 7") == "42"


def test_help(kernel):
    reply = kernel.run("%%ddp_train --help", "train")
    assert reply.status == "ok", reply.error
    assert "--checkpoint-every 10m" in reply.text


def test_a_cell_that_does_not_train(kernel):
    reply = kernel.run("%%ddp_train\nprint('hello')", "train")
    assert reply.status == "error"
    assert reply.error.startswith("error[")
    assert "Traceback" not in reply.error


def test_a_cell_that_is_still_empty(kernel):
    reply = kernel.run("%%ddp_train", "train")
    assert reply.status == "error"
    assert reply.error.startswith("error[training-cell]: the training cell is empty: write the loop")
    assert "Traceback" not in reply.error


def test_all_that_stands_in_the_way_at_once(kernel):
    cell = TRAIN.replace("model(x)", "modell(x)").replace("in loader", "in loaders")
    reply = kernel.run(cell, "train")
    assert reply.status == "error"
    assert "no cell before this one defines 'modell'" in reply.error
    assert "no cell before this one defines 'loaders'" in reply.error
    assert " --> cell 5:6" in reply.error
    assert "Traceback" not in reply.error


def test_a_run_that_fails_fails_the_cell(kernel):
    kernel.aside("before = [p.clone() for p in model.parameters()]")
    reply = kernel.run(TRAIN.replace("loss.backward()", "loss.backward(); assert epoch < 1, 'enough'"), "train")
    assert reply.status == "error"
    assert "AssertionError: enough" in reply.error
    assert "cell " in reply.error
    assert "culprit.py" not in reply.error
    assert kernel.value("all(map(torch.equal, before, model.parameters()))") == "True"


@pytest.mark.thorough
def test_a_batch_that_does_not_divide_is_rounded_and_trains(kernel):
    """As the note at the cell says beforehand."""
    reply = kernel.run(TRAIN.replace("train", "train --nproc 3", 1), "train")
    assert reply.status == "ok", reply.error
    assert "batches have 6 samples, 2 on each" in f"{reply.text}{reply.displays}"


def test_a_file_of_torch_that_is_no_checkpoint(kernel):
    kernel.aside("torch.save({'a': 1}, 'other.pt')")
    reply = kernel.run(TRAIN.replace("train", "train --resume other.pt", 1), "train")
    assert reply.status == "error"
    assert "other.pt is not a checkpoint of a training: name a file that a run has written" in reply.error


def test_a_folder_that_takes_no_run(kernel, folder):
    (folder / "other").mkdir()
    (folder / "other" / ".nbddp").write_text("in the way")
    kernel.aside("import os; os.chdir('other')")
    reply = kernel.run(TRAIN, "train")
    kernel.aside("os.chdir('..')")
    assert reply.status == "error"
    assert "is not a folder, so no run can be kept in it" in reply.error
    assert "Traceback" not in reply.error


def test_a_working_directory_that_was_deleted(kernel):
    kernel.aside("import os; here = os.getcwd(); os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')")
    replies = [kernel.run(TRAIN, "train"), kernel.run("%ddp runs")]
    kernel.aside("os.chdir(here)")
    for reply in replies:
        assert reply.error == "The kernel's working directory no longer exists: change to another one with os.chdir()."


def test_a_run_that_was_deleted(kernel):
    kernel.run(TRAIN, "train")
    kernel.aside("import shutil; shutil.rmtree(run.folder.path)")
    reply = kernel.run("run.load('model')")
    assert "the run has not written a result" in reply.error
    assert "Traceback" not in kernel.run("%ddp log").error
    assert kernel.value("6 * 7") == "42"
