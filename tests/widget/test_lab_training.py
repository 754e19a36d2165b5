"""A training from a cell, in a real JupyterLab: seen, stopped while the cell blocks and in the background, reloaded."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.magics.conftest import CELLS, DATA, IMPORTS, MODEL, TRAIN
from tests.widget.test_jupyterlab import code, open_notebook, page, ready, run_cell, saved

pytestmark = pytest.mark.thorough

__all__ = ["page"]  # a fixture of the other file
LONG = CELLS["parameters"].replace("3", "10_000")
LATER = re.compile(r"^Epoch ([3-9]|\d\d+) of 10,000$")
LEFT = "print('left:', len(run.processes()), 'phase:', run.state.phase)"
BACKGROUND = TRAIN.replace("ddp_train", "ddp_train --background")


def test_a_training_that_blocks_its_cell_moves_and_is_stopped(page: Page, lab, screenshot):
    path = open_notebook(page, lab, "blocks.ipynb", code(f"{IMPORTS}\n{LONG}\n{DATA}\n{MODEL}", TRAIN, LEFT))
    run_cell(page, 0)
    run_cell(page, 1)
    widget = page.locator(".nbddp")
    expect(widget.get_by_role("status").first).to_have_text("Training", timeout=60_000)
    expect(widget.get_by_text(LATER)).to_be_visible()
    expect(widget.locator("figure path").first).to_be_visible()
    expect(widget.get_by_role("tabpanel")).to_contain_text(re.compile(r"epoch \d+: loss \d"))
    screenshot(page, "training-light")
    widget.get_by_role("button", name="Stop (keep checkpoint)").click()
    expect(page.get_by_text("■ Stopped")).to_be_visible()
    expect(page.get_by_text(re.compile("was stopped. The notebook's own state is as it was before"))).to_be_visible()
    screenshot(page, "training-stopped-light")
    run_cell(page, 2)
    expect(page.get_by_text("left: 0 phase: stopped")).to_be_visible()
    kept = [output["data"] for output in saved(page, path)[1] if output["output_type"] == "display_data"]
    assert [set(data) for data in kept] == [{"text/plain", "text/html", "application/vnd.nbddp.run+json"}]


def test_a_training_in_the_background_is_there_after_a_reload(page: Page, lab, screenshot):
    cells = code(
        f"{IMPORTS}\n{LONG}\n{DATA}\n{MODEL}", BACKGROUND, "6 * 7", f"run.wait(60)\n{LEFT}\nrun.restore()\nepoch"
    )
    path = open_notebook(page, lab, "beside.ipynb", cells)
    page.evaluate("() => jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
    run_cell(page, 0)
    run_cell(page, 1)
    widget = page.locator(".nbddp")
    expect(widget.get_by_text(LATER)).to_be_visible(timeout=60_000)
    run_cell(page, 2)
    expect(page.get_by_text("42", exact=True)).to_be_visible()
    saved(page, path)
    page.reload()
    ready(page)
    expect(widget.get_by_role("status").first).to_have_text("Training")
    expect(widget.locator("figure path").first).to_be_visible()
    epoch = widget.get_by_text(re.compile(r"^Epoch [\d,]+ of")).inner_text()
    expect(widget.get_by_text(epoch, exact=True)).to_have_count(0)
    screenshot(page, "training-dark")
    widget.get_by_role("button", name="Finish epoch").click()
    expect(widget.get_by_role("status").first).to_have_text("Stopped")
    run_cell(page, 3)
    expect(page.get_by_text("left: 0 phase: stopped")).to_be_visible()
