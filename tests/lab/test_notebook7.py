"""The same wheel in Notebook 7, whose pages hold one document each."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from nbddp.run.folder.folders import create
from tests.lab.conftest import visit
from tests.lab.test_export import exported_by_command_line
from tests.server.notebooks import notebook


@pytest.fixture
def page(browser, notebook7):
    address, root = notebook7
    pages = address.replace("lab/workspaces/{workspace}/tree/", "notebooks/")
    yield from visit(browser, pages, root, "Cannot read properties of undefined (reading 'schema')")


def test_roles_and_one_click(page, tmp_path, screenshot):
    page.write("digits.ipynb", notebook(), kernel="none")
    run = create(page.root, "digits")
    run.script.write_text("print()\n")
    run.events.write_text('{"event": "launch", "time": 1.0, "nproc": 2}\n')
    page.open("digits.ipynb")
    page.expect_chips("Kept", "Kept", "Kept", "Train", "Left out")
    with page.page.context.expect_page() as opened:
        page.page.locator("[data-command='nbddp:export']").first.click()
    expect(opened.value.locator(".jp-FileEditor .cm-content")).to_contain_text("Exported from digits.ipynb")
    assert (page.root / "digits_ddp.py").read_bytes() == exported_by_command_line(tmp_path, notebook())
    page.command("nbddp:preview")
    expect(page.page.locator(".nbddp-preview .nbddp-line:visible").first).to_be_visible()
    screenshot(page.page, "notebook7")
    page.command("nbddp:runs")
    expect(page.page.locator(".nbddp-runs").get_by_role("option")).to_contain_text(run.name)
    expect(page.page.locator(".nbddp-runs.nbddp-narrow .nbddp").get_by_role("status").first).to_be_in_viewport()
    screenshot(page.page, "runs-notebook7")
    for rank in (0, 1):  # the second time the view that is there shows it
        run.log(rank).write_text(f"rank {rank} was here\n")
        page.command("nbddp:log", rank=rank)
        expect(page.page.locator(".nbddp-script pre:visible")).to_have_text(f"rank {rank} was here\n")
    expect(page.page.get_by_role("combobox", name="Rank")).to_have_count(1)
