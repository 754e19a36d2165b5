"""Training from the page: the form, the run beside the kernel, its page, and what the saved notebook shows."""

from __future__ import annotations

import re

import nbformat
from playwright.sync_api import expect

from nbddp.run.folder.folders import runs_in
from nbddp.run.run import Run
from nbddp.widget.run_view import subject_of
from nbddp.widget.subject import Subject
from nbddp.widget.summary import MIME, mimebundle
from nbddp.widget.view import snapshot
from tests.server.notebooks import DATA, IMPORTS, MODEL, TRAIN, notebook
from tests.widget.runs import ended, running

LONG = TRAIN.replace("range(3)", "range(2000)") + "\n    time.sleep(0.02)"


def test_a_run_from_the_form_outlives_its_kernel(page, screenshot):
    page.write("digits.ipynb", notebook(f"%load_ext nbddp\nimport time\n{IMPORTS}", DATA, MODEL, LONG))
    page.open("digits.ipynb", kernel=True)
    page.page.locator("[data-command='nbddp:run']").first.click()
    form = page.page.locator(".jp-Dialog")
    form.get_by_role("textbox", name="Processes").fill("none")
    expect(form.get_by_role("button", name="Run")).to_be_disabled()
    form.get_by_role("textbox", name="Processes").fill("2")
    form.get_by_label("In the background").check()
    expect(form.get_by_label("Run the cells above first")).to_be_checked()
    screenshot(page.page, "form-light")
    form.get_by_role("button", name="Run").click()
    expect(page.cells.nth(3).locator(".nbddp").get_by_role("status").first).to_have_text("Training", timeout=120_000)
    expect(page.cells.nth(3).locator(".nbddp").get_by_role("status").first).to_be_in_viewport()
    expect(page.page.locator(".jp-OutputArea [data-mime-type='application/vnd.jupyter.stderr']")).to_have_count(0)
    expect(page.cells.first.locator(".jp-OutputArea-output")).to_have_count(0)
    assert page.source(4).startswith("%%ddp_train --nproc 2 --background\n")
    (folder,) = runs_in(page.root)
    try:
        screenshot(page.page, "widget-light")
        page.js("() => jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
        page.command("running:show-panel")
        expect(page.page.locator(f".jp-RunningSessions [title*='{folder.name}']")).to_be_visible()
        page.command("nbddp:runs")
        runs = page.page.locator(".nbddp-runs")
        expect(runs.get_by_role("option")).to_contain_text("Training")
        shown = runs.locator(".nbddp")
        expect(shown.get_by_role("status").first).to_have_text("Training")
        expect(shown.locator("figure path").first).to_be_attached()
        screenshot(page.page, "runs-light")
        step = shown.get_by_text(re.compile(r"^Epoch \d+ of 2,000$"))
        text = step.inner_text()
        expect(shown.get_by_text(text, exact=True)).to_have_count(0)
        shown.get_by_role("button", name="Stop (keep checkpoint)").click()
        expect(shown.get_by_role("status").first).to_have_text("Stopped", timeout=60_000)
        expect(runs.get_by_role("option")).to_contain_text("Stopped")
        runs.get_by_role("button", name="Open script").click()
        expect(page.page.locator(".nbddp-lines")).to_contain_text("Exported from digits.ipynb")
    finally:
        Run.attach(folder).stop("kill")


def test_the_form_remembers_what_was_entered(page):
    page.write("again.ipynb", notebook(IMPORTS, DATA, MODEL, f"%%ddp_train --nproc 3 --resume x.pt\n{TRAIN}"), "none")
    page.open("again.ipynb")
    page.command("nbddp:run")
    form = page.page.locator(".jp-Dialog")
    expect(form.get_by_role("textbox", name="Processes")).to_have_value("3")
    expect(form.get_by_role("combobox", name="Resume from")).to_have_value("x.pt")
    page.page.keyboard.press("Escape")
    expect(form).to_have_count(0)
    assert page.source(4).startswith("%%ddp_train --nproc 3 --resume x.pt\n")


def test_the_form_remembers_what_was_entered_in_a_notebook_that_is_renamed(page):
    """What it remembers is told from the line in the cell, which is taken out each time."""
    page.write("names/before.ipynb", notebook(IMPORTS, DATA, MODEL, TRAIN), kernel="none")
    page.open("names/before.ipynb")
    form = page.page.locator(".jp-Dialog")
    processes = form.get_by_role("textbox", name="Processes")

    def remembered(value: str) -> None:
        page.command("nbddp:run")
        expect(processes).to_have_value(value)
        page.page.keyboard.press("Escape")
        expect(form).to_have_count(0)

    page.command("nbddp:run")
    processes.fill("3")
    form.get_by_role("button", name="Run").click()
    page.until(lambda: page.source(4).startswith("%%ddp_train --nproc 3\n"))
    page.set_source(4, TRAIN)
    page.js("() => jupyterapp.shell.currentWidget.context.save()")
    remembered("3")
    page.js("() => jupyterapp.shell.currentWidget.context.rename('after.ipynb')")
    expect(
        page.page.locator(".jp-NotebookPanel [aria-label='after.ipynb'], .lm-TabBar-tab").filter(has_text="after.ipynb")
    ).to_be_visible()
    remembered("3")
    rename = "([old, now]) => jupyterapp.serviceManager.contents.rename(old, now)"
    page.js(rename, ["names", "other"])
    page.until(lambda: page.js("() => jupyterapp.shell.currentWidget.context.path") == "other/after.ipynb")
    remembered("3")
    page.write("other/before.ipynb", notebook(IMPORTS, DATA, MODEL, TRAIN), kernel="none")
    page.open("other/before.ipynb")
    remembered("")


def saved(*bundles):
    outputs = [[nbformat.v4.new_output("display_data", bundle)] for bundle in bundles]
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("run", outputs=output) for output in outputs])


def test_a_saved_notebook_shows_its_run(page, screenshot):
    """No kernel has its widget any more: the output's own picture of the run is drawn."""
    bundle = mimebundle(ended(running(300)), Subject("script.py"), {0: ["the last <b>line</b>"]})
    page.write("saved.ipynb", saved(bundle), kernel="none")
    page.open("saved.ipynb")
    shown = page.cells.first.locator(".nbddp")
    expect(shown.get_by_role("status").first).to_have_text("Done")
    expect(shown.locator("figure path").first).to_be_visible()
    expect(shown.get_by_role("tabpanel")).to_contain_text("the last <b>line</b>")
    screenshot(page.page, "saved-light")


def test_a_notebook_that_was_saved_in_the_middle_shows_how_it_went_on(page):
    """The widget's model has gone with its kernel; the run's folder has not."""
    from nbddp.run.folder.folders import create

    folder = create(page.root / "elsewhere", "digits")
    folder.script.write_text("print()\n")
    lines = [{"event": "launch", "time": 1.0, "name": "digits"}, {"event": "exit", "time": 9.0, "status": 0}]
    folder.events.write_text("".join(f"{one}\n".replace("'", '"') for one in lines))
    then = snapshot(running(100), subject_of(folder))
    view = {"model_id": "gone", "version_major": 2, "version_minor": 0}
    bundle = {"application/vnd.jupyter.widget-view+json": view, MIME: then, "text/plain": "a run"}
    page.write("elsewhere/middle.ipynb", saved(bundle), kernel="none")
    page.open("elsewhere/middle.ipynb")
    shown = page.cells.first.locator(".nbddp")
    expect(shown.get_by_role("status").first).to_have_text("Done")
    expect(page.page.get_by_text("Error displaying widget")).to_have_count(0)
