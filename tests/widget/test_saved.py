"""What a notebook has that is executed by a program, where no page ever looks at the widget."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

SOURCE = """\
from nbddp.widget.feed import follow
from nbddp.widget.subject import Subject
from tests.widget.in_kernel import TimedRun
from tests.widget.runs import FakeRun, ended, running

feed = follow(FakeRun(running(200)), Subject("script.py"), print)
assert type(feed.surface).__name__ == "InNotebook"
feed._run.state = ended(running(300))
assert feed.join(20)
"""
LATER = "print('another cell')"


@pytest.fixture(scope="module")
def executed() -> nbformat.NotebookNode:
    cells = [nbformat.v4.new_code_cell(source) for source in (SOURCE, LATER)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=60).execute()
    return notebook


def test_the_summary_has_taken_the_place_of_the_widget(executed):
    (output,) = executed.cells[0].outputs
    assert set(output.data) == {"text/plain", "text/html", "application/vnd.nbddp.run+json"}
    assert output.data["text/plain"].startswith("digits · Done · epoch 10 of 10")
    assert [output.text for output in executed.cells[1].outputs] == ["another cell\n"]


def test_it_is_in_the_page_that_nbconvert_makes(executed):
    page, _ = HTMLExporter().from_notebook_node(executed)
    assert "✓ Trained" in page
    assert "data:image/svg+xml;base64," in page
