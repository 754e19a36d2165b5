"""The widget where it lives: a real JupyterLab, a real kernel, a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from nbddp.widget.subject import Subject
from nbddp.widget.summary import mimebundle
from tests.widget.runs import ended, running

pytestmark = pytest.mark.thorough

LATER = re.compile(r"^Epoch ([3-9]|\d\d+) of 1,000$")
SETUP = """\
from tests.widget.in_kernel import TimedRun
from nbddp.widget.feed import follow
from nbddp.widget.subject import Subject
"""
BLOCKING = """\
run = TimedRun()
feed = follow(run, Subject("/runs/digits/script.py"), run.stop)
while not run.over.wait(0.1):
    pass
feed.join(10)
print("stopped by", *run.stopped)
"""
BACKGROUND = """\
from collections.abc import Iterator
from pathlib import Path
Path("script.py").write_text("print('the script')")
run = TimedRun()
feed = follow(run, Subject(str(Path("script.py").absolute())), run.stop)
"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1200, "height": 1000})
    page.set_default_timeout(20_000)
    yield page
    page.close()


def open_notebook(page: Page, lab: tuple[str, Path], name: str, cells: list[Any]) -> Path:
    address, root = lab
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), root / name)
    page.goto(address.format(name=name))
    ready(page)
    return root / name


def code(*sources: str) -> list[Any]:
    return [nbformat.v4.new_code_cell(source) for source in sources]


def ready(page: Page) -> None:
    """JupyterLab drops what is asked of it before its session is up."""
    page.locator(".jp-CodeCell").first.wait_for()
    page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.ready")


def run_cell(page: Page, number: int) -> None:
    script = """async (number) => {
        const notebook = jupyterapp.shell.currentWidget.content;
        notebook.activeCellIndex = number;
        void jupyterapp.commands.execute("notebook:run-cell");
    }"""
    page.evaluate(script, number)


def saved(page: Page, path: Path) -> list[Any]:
    """The outputs of each cell, as the file has them."""
    page.keyboard.press("Escape")
    page.keyboard.press("Control+s")
    expect(page.locator(".jp-mod-dirty")).to_have_count(0)
    return [cell["outputs"] for cell in json.loads(path.read_text())["cells"]]


def test_stop_while_the_cell_blocks(page, lab, screenshot):
    path = open_notebook(page, lab, "blocking.ipynb", code(SETUP, BLOCKING))
    run_cell(page, 0)
    run_cell(page, 1)
    widget = page.locator(".nbddp")
    expect(widget).to_be_visible()
    expect(widget.get_by_role("status").first).to_have_text("Training")
    expect(widget.locator("figure path").first).to_be_visible()
    expect(widget.get_by_role("tabpanel")).to_contain_text("<script>document.title")
    expect(widget.get_by_role("tabpanel")).to_contain_text("90%|#########")
    expect(widget.get_by_role("tabpanel")).not_to_contain_text("10%")
    expect(widget.get_by_text(LATER)).to_be_visible()
    screenshot(page, "lab-light")
    widget.get_by_role("button", name="Stop (keep checkpoint)").click()
    expect(page.get_by_text("stopped by now")).to_be_visible()
    expect(page.get_by_text("■ Stopped")).to_be_visible()
    expect(widget).to_have_count(0)
    screenshot(page, "lab-summary-light")
    assert page.title() != "taken over"
    summary, _ = saved(page, path)[1]
    assert set(summary["data"]) == {"text/plain", "text/html", "application/vnd.nbddp.run+json"}


def test_a_reload_while_it_runs_in_the_background(page, lab, screenshot):
    path = open_notebook(page, lab, "background.ipynb", code(SETUP, BACKGROUND, "6 * 7", "feed.join(10), run.stopped"))
    page.evaluate("() => jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    run_cell(page, 0)
    run_cell(page, 1)
    widget = page.locator(".nbddp")
    expect(widget.get_by_text(LATER)).to_be_visible()
    run_cell(page, 2)
    expect(page.get_by_text("42", exact=True)).to_be_visible()
    saved(page, path)
    page.reload()
    ready(page)
    expect(widget.get_by_role("status").first).to_have_text("Training")
    expect(widget.locator("figure path")).to_have_count(4)
    expect(widget.get_by_text("rank 0, second 0", exact=True)).to_be_attached()
    epoch = widget.get_by_text(re.compile(r"^Epoch \d+ of")).inner_text()
    expect(widget.get_by_text(epoch)).to_have_count(0)
    screenshot(page, "lab-dark")
    widget.get_by_role("button", name="Finish epoch").click()
    expect(widget.get_by_role("status").first).to_have_text("Stopped")
    run_cell(page, 3)
    expect(page.get_by_text("(True, ['epoch'])")).to_be_visible()
    widget.get_by_role("link", name=re.compile("script.py")).click()
    expect(page.locator(".jp-FileEditor").get_by_text("'the script'")).to_be_visible()


def test_a_notebook_from_somebody_else_shows_the_summary(page, lab, screenshot):
    """It is not trusted, so JupyterLab cleans its HTML; and no kernel knows its widget."""
    bundle = mimebundle(ended(running(300)), Subject("script.py"), {0: ["the last <b>line</b>"]})
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", bundle)])
    open_notebook(page, lab, "theirs.ipynb", [cell])
    expect(page.get_by_text("✓ Trained")).to_be_visible()
    picture = page.locator(".jp-OutputArea img")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.naturalWidth") > 500
    page.get_by_text("Log of rank 0").click()
    expect(page.get_by_text("the last <b>line</b>")).to_be_visible()
    screenshot(page, "lab-summary-dark")
