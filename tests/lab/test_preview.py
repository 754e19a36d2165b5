"""The script beside its notebook, as one types."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.server.notebooks import notebook


def test_lines_lead_to_their_cells_and_back(page, screenshot):
    page.write("digits.ipynb", notebook(), kernel="none")
    page.open("digits.ipynb")
    page.command("nbddp:preview")
    preview = page.page.locator(".nbddp-preview")
    line = preview.locator(".nbddp-line[data-cell='3'][data-line='2']")
    expect(line).to_contain_text("optimizer = torch.optim.SGD")
    expect(preview.locator(".nbddp-line[data-sign=changed]").first).to_be_attached()
    expect(preview.locator(".nbddp-line[data-sign=added]").first).to_be_attached()
    line.get_by_role("button").click()
    expect(page.page.locator(".jp-Notebook .jp-Cell.jp-mod-active")).to_contain_text("optimizer =")
    expect(line).to_have_class("nbddp-line nbddp-here nbddp-cursor")
    screenshot(page.page, "preview-light")
    page.type_into(3, "\nmodel = nn.Sequential(model)")
    expect(preview.locator(".nbddp-script")).to_contain_text("nn.Sequential(model)")
    page.set_source(3, "model = (")
    expect(preview.get_by_role("status")).to_contain_text("No script now")
    expect(preview.locator(".nbddp-script")).to_contain_text("nn.Sequential(model)")


def test_up_and_down_with_the_keyboard(page):
    page.write("keys.ipynb", notebook(), kernel="none")
    page.open("keys.ipynb")
    page.command("nbddp:preview")
    places = page.page.locator(".nbddp-preview button.nbddp-place")
    places.first.focus()
    page.page.keyboard.press("ArrowDown")
    expect(places.nth(1)).to_be_focused()
    cell = places.nth(1).inner_text().split(":")[0]
    page.page.keyboard.press("Enter")
    active = page.js("() => jupyterapp.shell.currentWidget.content.activeCellIndex + 1")
    assert str(active) == cell


def test_a_notebook_that_gets_another_name(page):
    page.write("before.ipynb", notebook(), kernel="none")
    page.open("before.ipynb")
    page.js("() => { window.notebook = jupyterapp.shell.currentWidget; }")
    page.command("nbddp:check")
    page.command("nbddp:preview")
    script = page.page.locator(".nbddp-preview .nbddp-script")
    expect(script).to_contain_text("Exported from before.ipynb")
    page.js("() => notebook.context.rename('after.ipynb')")
    expect(script).to_contain_text("Exported from after.ipynb")
    expect(page.page.get_by_role("tab", name="Preview of after_ddp.py")).to_be_visible()
    expect(page.page.get_by_role("tab", name="DDP: after.ipynb")).to_be_visible()
