"""A whole notebook, executed by a program that sends neither ids nor tags, and saved."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from tests.magics.conftest import CELLS

pytestmark = pytest.mark.thorough

LATER = "assert len(losses) == epochs and epoch == 2\nmodel.weight.sum().item()"


def test_later_cells_work_and_the_summary_stays(tmp_path):
    cells = [nbformat.v4.new_code_cell(source) for source in (*CELLS.values(), LATER)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    training = notebook.cells[-2].outputs
    shown = [output.data for output in training if output.output_type == "display_data"]
    assert len(shown) == 1
    assert "✓ Trained" in shown[0]["text/html"]
    assert "application/vnd.jupyter.widget-view+json" not in shown[0]
    assert notebook.cells[-1].outputs[0].data["text/plain"]
