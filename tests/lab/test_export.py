"""One click: from the notebook on the screen to the script beside it."""

from __future__ import annotations

import json
import re

from playwright.sync_api import expect

from nbddp.cli import main
from nbddp.documentation import page_of
from tests.server.notebooks import CELLS, IMPORTS, MODEL, notebook


def click_export(page) -> None:
    page.page.locator(".jp-NotebookPanel [data-command='nbddp:export']").first.click()


def exported_by_command_line(tmp_path, content, name="digits") -> bytes:
    path = tmp_path / f"{name}.ipynb"
    path.write_text(json.dumps(content))
    assert main(["export", str(path)]) == 0
    return (tmp_path / f"{name}_ddp.py").read_bytes()


def test_without_a_kernel(page, tmp_path, screenshot):
    """The bytes are those of the command line, the script opens beside the notebook, and what was done is told."""
    page.write("digits.ipynb", notebook(), kernel="none")
    page.open("digits.ipynb")
    page.expect_chips("Kept", "Kept", "Kept", "Train", "Left out")
    for command, label, keys in (("export", "Export DDP", "E"), ("run", "Run DDP", "R")):
        button = page.page.locator(f".jp-NotebookPanel [data-command='nbddp:{command}']").first
        expect(button).to_have_text(label)
        expect(button.locator("svg")).to_be_visible()
        expect(button).to_have_attribute("title", re.compile(rf"\(Alt.Shift.{keys}\)"))
    click_export(page)
    expect(page.page.locator(".jp-FileEditor .cm-content")).to_contain_text("Exported from digits.ipynb")
    expect(page.page.get_by_text(re.compile(r"digits_ddp.py written: 4 of 5 cells, \d+ lines"))).to_be_visible()
    screenshot(page.page, "export-light")
    page.page.get_by_role("button", name="What changed").click()
    expect(page.page.locator(".nbddp-preview")).to_contain_text("Exported from digits.ipynb")
    assert (page.root / "digits_ddp.py").read_bytes() == exported_by_command_line(tmp_path, notebook())


def test_what_is_on_the_screen_is_what_is_exported(page, tmp_path):
    path = page.write("unsaved.ipynb", notebook(), kernel="none")
    before = path.read_bytes()
    page.open("unsaved.ipynb")
    page.expect_chips("Kept", "Kept", "Kept", "Train", "Left out")
    page.type_into(3, "\nmodel = nn.Sequential(model)")
    click_export(page)
    expect(page.page.locator(".jp-FileEditor .cm-content")).to_contain_text("(Sequential)")
    cells = (*CELLS[:2], f"{MODEL}\nmodel = nn.Sequential(model)", *CELLS[3:])
    script = (page.root / "unsaved_ddp.py").read_text()
    assert script.encode() == exported_by_command_line(tmp_path, notebook(*cells), "unsaved")
    assert path.read_bytes() == before


def test_modules_beside_the_notebook_are_read(page, tmp_path, screenshot):
    """In the folder of the notebook, whichever that is; what is said of a file is said by its name."""
    saving = "import torch\n\n\ndef save(net):\n    torch.save(net.state_dict(), 'net.pt')\n"
    content = notebook("from saving import save", *CELLS[:3], CELLS[3] + "\nsave(model)")
    for folder in (page.root / "beside", tmp_path):
        folder.mkdir(exist_ok=True)
        (folder / "saving.py").write_text(saving)
    page.write("beside/digits.ipynb", content, kernel="none")
    page.open("beside/digits.ipynb")
    page.expect_chips("Kept", "Kept", "Kept", "Kept", "Train")
    click_export(page)
    expect(page.page.locator(".jp-FileEditor .cm-content")).to_contain_text("Exported from digits.ipynb")
    expect(page.page.get_by_text(re.compile(r"digits_ddp.py written: 5 of 5 cells, \d+ lines"))).to_be_visible()
    page.page.get_by_role("button", name="What changed").click()
    expect(page.page.locator(".nbddp-preview")).to_contain_text("saving.py")
    screenshot(page.page, "modules-light")
    assert (page.root / "beside" / "digits_ddp.py").read_bytes() == exported_by_command_line(tmp_path, content)


def test_while_the_kernel_is_busy(page):
    page.write("busy.ipynb", notebook(*CELLS[:4], "import time\ntime.sleep(600)"))
    page.open("busy.ipynb", kernel=True)
    page.run_cell(5)
    click_export(page)
    expect(page.page.locator(".jp-FileEditor .cm-content")).to_contain_text("Exported from busy.ipynb")
    expect(page.cells.nth(4).locator(".jp-InputPrompt")).to_have_text("[*]:")


def test_what_stands_in_the_way_is_told_at_its_cell_and_in_a_list(page, screenshot):
    samples = "xs, ys = torch.ones(8, 4), torch.ones(8, 1)"
    train = CELLS[3].replace("in loader", "in zip(xs, ys)")
    page.write("refused.ipynb", notebook(IMPORTS, samples, MODEL, train), kernel="none")
    page.open("refused.ipynb")
    click_export(page)
    banner = page.cells.nth(3).locator(".nbddp-banner")
    expect(banner).to_contain_text("Error: ")
    expect(banner).to_contain_text("Help: ")
    marked = page.cells.nth(3).locator(".cm-lintRange-error")
    expect(marked).to_have_text("for x, y in zip(xs, ys):")
    expect(marked).to_be_in_viewport()
    screenshot(page.page, "refused-light")
    marked.hover()
    expect(page.page.locator(".cm-tooltip-lint")).to_contain_text("batches")
    page.cells.first.locator(".cm-content").click()
    findings = page.page.locator(".nbddp-findings")
    expect(findings.get_by_role("status")).to_contain_text("error")
    findings.locator(".nbddp-finding[data-level=error]").first.click()
    expect(page.page.locator(".jp-Cell.jp-mod-active")).to_contain_text("zip(xs, ys):")
    for place in (banner, findings):
        link = place.get_by_role("link", name="More about “shard”").first
        expect(link).to_have_attribute("href", page_of("shard"))
    assert not (page.root / "refused_ddp.py").exists()
    page.set_source(
        4, CELLS[3].replace("in loader", "in DataLoader(TensorDataset(torch.ones(8, 4), torch.ones(8, 1)))")
    )
    expect(banner.locator("[data-level=error]")).to_have_count(0)
    expect(marked).to_have_count(0)


def test_a_script_that_somebody_has_edited_is_kept(page):
    page.write("mine.ipynb", notebook(), kernel="none")
    script = page.root / "mine_ddp.py"
    script.write_text("print('mine')\n")
    page.open("mine.ipynb")
    click_export(page)
    page.page.locator(".jp-Dialog").get_by_text("Keep it").click()
    expect(page.page.locator(".jp-Dialog")).to_have_count(0)
    assert script.read_text() == "print('mine')\n"
    click_export(page)
    page.page.locator(".jp-Dialog").get_by_text("Overwrite", exact=True).click()
    expect(page.page.locator(".jp-FileEditor .cm-content")).to_contain_text("Exported from mine.ipynb")
    exported = script.read_text()
    assert "Exported from mine.ipynb" in exported
    changed_while_its_tab_is_open(page, script, exported)


def changed_while_its_tab_is_open(page, script, exported) -> None:
    """The disk is what counts, whatever the tab shows; JupyterLab's own question does not come on top of ours."""
    dialog = page.page.locator(".jp-Dialog")
    script.write_text("print('from outside')\n")
    click_export(page)
    dialog.get_by_text("Keep it").click()
    expect(page.page.get_by_text("mine_ddp.py was kept as it is; no script was written.").last).to_be_visible()
    assert script.read_text() == "print('from outside')\n"
    click_export(page)
    dialog.get_by_text("Overwrite", exact=True).click()
    page.until(lambda: script.read_text() == exported)
    expect(page.page.get_by_text("mine_ddp.py written").last).to_be_visible()
    expect(dialog).to_have_count(0)
    expect(page.page.locator(".jp-FileEditor .cm-content")).to_contain_text("Exported from mine.ipynb")
    page.page.locator(".jp-FileEditor .cm-content").click()
    page.page.keyboard.insert_text("typed, not saved")
    click_export(page)
    dialog.get_by_text("Overwrite", exact=True).click()
    expect(page.page.locator(".jp-FileEditor .cm-content")).not_to_contain_text("typed, not saved")


def test_a_folder_that_cannot_be_written_to(page):
    page.write("readonly.ipynb", notebook(), kernel="none")
    page.open("readonly.ipynb")
    refused = json.dumps({"message": "Permission denied: readonly_ddp.py"})

    def refuse(route) -> None:
        if route.request.method == "PUT":
            route.fulfill(status=403, content_type="application/json", body=refused)
        else:
            route.fallback()

    page.page.route("**/api/contents/**", refuse)
    click_export(page)
    told = "The script could not be written: Permission denied: readonly_ddp.py"
    expect(page.page.get_by_text(told).first).to_be_visible()


def test_of_two_notebooks_side_by_side_the_one_whose_button_it_is(page):
    page.page.set_viewport_size({"width": 1900, "height": 900})  # in a narrow panel the toolbar folds its buttons away
    for name in ("left", "right"):
        page.write(f"side/{name}.ipynb", notebook(), kernel="none")
    page.open("side/left.ipynb")
    page.js(
        """() => jupyterapp.commands.execute("docmanager:open", {
            path: "side/right.ipynb", options: {mode: "split-right", ref: jupyterapp.shell.currentWidget.id}})"""
    )
    page.page.locator(".jp-Dialog .jp-mod-reject").click()
    expect(page.chips).to_have_count(10)
    assert page.js("() => jupyterapp.shell.currentWidget.context.path") == "side/right.ipynb"
    click_export(page)
    expect(page.page.locator(".jp-FileEditor .cm-content")).to_contain_text("Exported from left.ipynb")
    assert sorted(path.name for path in (page.root / "side").glob("*.py")) == ["left_ddp.py"]
