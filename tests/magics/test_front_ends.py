"""What each kind of front end gets of the same run, by the protocol: which forms of the output come, and when."""

from __future__ import annotations

import pytest

from tests.magics.conftest import TRAIN
from tests.magics.kernel import Reply

WIDGET, OURS = "application/vnd.jupyter.widget-view+json", "application/vnd.nbddp.run+json"


@pytest.fixture
def reply(kernel) -> Reply:
    found = kernel.run(TRAIN, "train")
    assert found.status == "ok", found.error
    return found


def test_one_run_in_all_its_forms(reply, kernel):
    (first,), (last,) = reply.displays, reply.updates
    # JupyterLab, Notebook, VS Code and Colab draw the widget by its number; who cannot has the line of text.
    assert set(first) == {WIDGET, OURS, "text/plain"}
    assert first["text/plain"].endswith("Starting")
    # The end replaces it: a saved file, a code host, nbclient and papermill have no kernel to draw a widget from.
    assert set(last) == {"text/html", "text/plain", OURS}
    assert "✓ Trained" in last["text/html"]
    assert "<script" not in last["text/html"]
    assert last["text/plain"].split(" · ")[1] == "Done"
    # `jupyter console` prints what cells display and give back, and takes no updates.
    assert reply.result.startswith("<Run ")
    assert "done, 3 epochs, loss 0." in reply.result
    # The widget is one module that asks for no package of JavaScript: anywidget's own runtime is enough anywhere.
    script = kernel.value("__import__('nbddp.widget.live').widget.live.RunWidget._esm")
    assert "import " not in script.replace("import(", "")
    assert "export default" in script


def test_papermills_injected_cell_is_one_more_cell(kernel):
    """It stands behind that of the parameters, and has its own tag."""
    kernel.run("epochs = 1", "injected", ("injected-parameters",))
    assert kernel.run(TRAIN, "train").status == "ok"
    assert kernel.value("len(run.history), epoch") == "1 0"


def test_a_shell_without_a_kernel_prints_lines(kernel):
    """IPython in a terminal, a script: nothing is displayed, and nothing of a widget is imported."""
    asked = "from nbddp.widget.surface import load_widget; import sys; print(load_widget(), 'anywidget' in sys.modules)"
    code = f"import subprocess, sys; print(subprocess.check_output([sys.executable, '-c', {asked!r}], text=True))"
    assert kernel.aside(code) == "False False"
