"""nbconvert's way to the same script: its own command line and its server's calls, on a real notebook."""

from __future__ import annotations

import dataclasses
import logging
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import get_export_names, get_exporter
from nbconvert.utils.exceptions import ConversionException

import nbddp
from nbddp.diagnostics import rendered
from nbddp.exporter import DDPScriptExporter

QUICKSTART = Path(__file__).parents[1] / "examples" / "quickstart.ipynb"
NO_TRAINING = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import torch\nx = torch.zeros(3)")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(QUICKSTART, tmp_path / "digits.ipynb")
    nbformat.write(NO_TRAINING, tmp_path / "untrained.ipynb")
    return tmp_path


def convert(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nbconvert", "--to", "ddp", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_it_is_registered_where_jupyter_looks():
    assert get_exporter("ddp") is DDPScriptExporter
    assert "ddp" in get_export_names()


def test_the_command_line_gives_the_bytes_of_export(folder):
    done = convert(folder, "digits.ipynb")
    assert done.returncode == 0, done.stderr
    assert (folder / "digits_ddp.py").read_text() == nbddp.export(folder / "digits.ipynb").text
    assert not (folder / "digits.py").exists()


def test_modules_beside_the_notebook_are_read(folder):
    (folder / "nets.py").write_text("from torch import nn\n\n\ndef make():\n    return nn.Linear(64, 10)\n")
    notebook = nbformat.read(folder / "digits.ipynb", as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("from nets import make"))
    notebook.cells[-1].source += "\nprint(make())"
    nbformat.write(notebook, folder / "more.ipynb")
    assert convert(folder, "more.ipynb").returncode == 0
    assert (folder / "more_ddp.py").read_text() == nbddp.export(folder / "more.ipynb").text


def test_a_name_given_is_the_name_used(folder):
    done = convert(folder, "digits.ipynb", "--output", "trainer.py")
    assert done.returncode == 0, done.stderr
    assert (folder / "trainer.py").exists()


def test_a_refusal_is_all_diagnostics_and_no_traceback(folder):
    done = convert(folder, "untrained.ipynb")
    with pytest.raises(nbddp.CannotExport) as refusal:
        nbddp.export(folder / "untrained.ipynb")
    assert done.returncode == 2
    assert str(refusal.value) in done.stderr
    assert "Traceback" not in done.stderr
    assert list(folder.glob("*.py")) == []


def test_the_server_gets_the_same_bytes_and_a_name(folder):
    """As jupyter_server calls it: cells from its contents manager, the name without its ending."""
    cells = nbformat.read(folder / "digits.ipynb", as_version=4)
    text, resources = DDPScriptExporter().from_notebook_node(cells, {"metadata": {"name": "digits"}})
    assert text == nbddp.export(folder / "digits.ipynb").text
    assert resources["output_extension"] == "_ddp.py"
    assert DDPScriptExporter.output_mimetype == "text/x-python"


def test_in_the_server_a_refusal_is_an_exception_that_it_can_show():
    with pytest.raises(ConversionException, match="error"):
        DDPScriptExporter().from_notebook_node(NO_TRAINING, {"metadata": {"name": "untrained"}})


def test_the_options_are_those_of_export(folder):
    options = nbddp.Options(nproc=3, batch_per_rank=True)
    exporter = DDPScriptExporter(nproc=3, batch_per_rank=True)
    assert (
        exporter.from_filename(str(folder / "digits.ipynb"))[0] == nbddp.export(folder / "digits.ipynb", options).text
    )


def test_warnings_reach_the_log(folder, caplog, monkeypatch):
    warned = nbddp.Diagnostic("seed", "warning", "no seed", cell=2, line=1)
    script = dataclasses.replace(nbddp.export(folder / "digits.ipynb"), diagnostics=(warned,))
    monkeypatch.setattr("nbddp.exporter.export", lambda *_: script)
    DDPScriptExporter(log=logging.getLogger("ddp")).from_filename(str(folder / "digits.ipynb"))
    assert [record.getMessage() for record in caplog.records] == [*rendered([warned])]
