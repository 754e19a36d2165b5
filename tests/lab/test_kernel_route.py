"""A server without nbddp, as on many hubs: the kernel of the notebook answers in its place."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.lab.conftest import serve, visit
from tests.lab.test_export import click_export, exported_by_command_line
from tests.server.notebooks import CELLS, notebook


@pytest.fixture(scope="module")
def bare(installed, tmp_path_factory):
    yield from serve(
        installed,
        tmp_path_factory,
        "jupyterlab",
        "--LabApp.expose_app_in_browser=True",
        "--ServerApp.jpserver_extensions=nbddp.server=False",
    )


@pytest.fixture
def page(browser, bare):
    yield from visit(browser, *bare)


def test_an_export_by_the_kernel_idle_and_busy(page, tmp_path):
    content = notebook(*CELLS[:4], "import time\ntime.sleep(600)")
    page.write("digits.ipynb", content)
    page.open("digits.ipynb", kernel=True)
    page.expect_chips("Kept", "Kept", "Kept", "Train", "Left out")
    click_export(page)
    editor = page.page.locator(".jp-FileEditor .cm-content")
    expect(editor).to_contain_text("Exported from digits.ipynb")
    assert (page.root / "digits_ddp.py").read_bytes() == exported_by_command_line(tmp_path, content)
    page.js("() => Promise.all([...jupyterapp.shell.widgets('main')].map(shown => shown.context?.ready))")
    (page.root / "digits_ddp.py").unlink()  # once the page has read it to the end
    page.command("docmanager:open", path="digits.ipynb")
    page.until(lambda: page.js("() => jupyterapp.shell.currentWidget?.context?.path") == "digits.ipynb")
    beside = page.js("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.supportsSubshells === true")
    page.run_cell(5)
    page.command("nbddp:export")
    if beside:
        page.until((page.root / "digits_ddp.py").exists)
    else:  # an older JupyterLab
        expect(page.page.get_by_text("The kernel is busy, and the server has no nbddp").first).to_be_visible()
    expect(page.cells.nth(4).locator(".jp-InputPrompt")).to_have_text("[*]:")


def test_without_a_kernel_it_says_what_is_missing(page):
    page.write("none.ipynb", notebook(), kernel="none")
    page.open("none.ipynb")
    click_export(page)
    expect(page.page.get_by_text("The server has no nbddp and this notebook no kernel").first).to_be_visible()
    page.command("nbddp:runs")
    expect(page.page.locator(".nbddp-runs")).to_contain_text("The server has no nbddp and cannot see runs")
