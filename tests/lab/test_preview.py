"""The script beside its notebook, as one types."""

from __future__ import annotations

import re

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
    expect(preview.get_by_role("status")).to_contain_text("No script at the moment")
    expect(preview.locator(".nbddp-script")).to_contain_text("nn.Sequential(model)")


def test_it_opens_on_the_code_of_the_cells(page, screenshot):
    page.write("folded.ipynb", notebook(), kernel="none")
    page.open("folded.ipynb")
    page.command("nbddp:preview")
    preview = page.page.locator(".nbddp-preview")
    folds, lines = preview.locator("button.nbddp-fold"), preview.locator(".nbddp-line")
    expect(folds.nth(1)).to_contain_text("lines of imports")
    expect(folds.last).to_have_text(re.compile(r"^[0-9]+ lines: \w[\w ]+$"))
    expect(preview.locator("button.nbddp-fold[aria-expanded=true]")).to_have_count(0)
    expect(preview.locator(".nbddp-line:visible").filter(has_text="def train(")).to_be_in_viewport()
    expect(preview.locator("[data-cell='4'][data-line='1']")).to_be_in_viewport()
    argparse, main = lines.filter(has_text="import argparse"), lines.filter(has_text="def main():")
    expect(argparse).to_be_hidden()
    expect(main).to_be_hidden()
    screenshot(page.page, "preview-folded")
    folds.nth(1).click()
    expect(argparse).to_be_visible()
    expect(folds.nth(1)).to_have_attribute("aria-expanded", "true")
    page.type_into(3, "\nmodel = nn.Sequential(model)")
    expect(preview.locator(".nbddp-script")).to_contain_text("nn.Sequential(model)")
    expect(argparse).to_be_visible()
    expect(main).to_be_hidden()


def test_folds_open_and_close_by_keys(page):
    page.write("folds.ipynb", notebook(), kernel="none")
    page.open("folds.ipynb")
    page.command("nbddp:preview")
    preview, keys = page.page.locator(".nbddp-preview"), page.page.keyboard
    folds = preview.locator("button.nbddp-fold")
    argparse = preview.locator(".nbddp-line").filter(has_text="import argparse")
    expect(folds.first).to_have_attribute("tabindex", "0")
    folds.first.focus()
    keys.press("ArrowDown")
    expect(folds.nth(1)).to_be_focused()
    keys.press("Enter")
    expect(argparse).to_be_visible()
    keys.press("ArrowDown")
    expect(preview.locator("[data-kind=imports] button.nbddp-place").first).to_be_focused()
    keys.press("ArrowUp")
    keys.press("Space")
    expect(argparse).to_be_hidden()
    keys.press("ArrowDown")
    expect(preview.locator("button.nbddp-place:visible").first).to_be_focused()


def test_a_click_anywhere_on_a_line_leads_to_its_cell(page):
    page.write("click.ipynb", notebook(), kernel="none")
    page.open("click.ipynb")
    page.command("nbddp:preview")
    line = page.page.locator(".nbddp-preview .nbddp-line[data-cell='3'][data-line='2']")
    line.locator("code").click()
    expect(page.page.locator(".jp-Notebook .jp-Cell.jp-mod-active")).to_contain_text("optimizer =")
    expect(line).to_have_class("nbddp-line nbddp-here nbddp-cursor")


def test_up_and_down_with_the_keyboard(page):
    page.write("keys.ipynb", notebook(), kernel="none")
    page.open("keys.ipynb")
    page.command("nbddp:preview")
    places = page.page.locator(".nbddp-preview button.nbddp-place:visible")
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
