"""Without a mouse: by shortcut, by the palette, from finding to cell."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.server.notebooks import CELLS, notebook


@pytest.mark.parametrize("mode", ["edit", "command"])
def test_shortcuts(page, mode):
    page.write(f"{mode}.ipynb", notebook(), kernel="none")
    page.open(f"{mode}.ipynb")
    page.expect_chips("Kept", "Kept", "Kept", "Train", "Left out")

    def press(keys: str) -> None:
        page.cells.nth(1).locator(".cm-content").click()
        if mode == "command":
            page.page.keyboard.press("Escape")
        page.page.keyboard.press(keys)

    press("Alt+Shift+R")
    expect(page.page.locator(".nbddp-form input").first).to_be_focused()
    page.page.keyboard.press("Escape")
    expect(page.page.locator(".jp-Dialog")).to_have_count(0)
    press("Alt+Shift+P")
    expect(page.page.locator(".nbddp-preview .nbddp-line:visible").first).to_be_visible()
    press("Alt+Shift+E")
    expect(page.page.locator(".jp-FileEditor .cm-content")).to_contain_text(f"Exported from {mode}.ipynb")
    assert (page.root / f"{mode}_ddp.py").exists()


def test_from_a_refusal_to_the_cell_that_is_meant(page):
    """The list has the focus as soon as it is there, and Enter leads into the cell, ready to type."""
    samples = "xs, ys = torch.ones(8, 4), torch.ones(8, 1)"
    train = CELLS[3].replace("in loader", "in zip(xs, ys)")
    page.write("refused-keys.ipynb", notebook(CELLS[0], samples, CELLS[2], train), kernel="none")
    page.open("refused-keys.ipynb")
    page.cells.first.locator(".cm-content").click()
    page.from_palette("Export DDP Script")
    expect(page.page.locator(".nbddp-finding").first).to_be_focused()
    page.page.keyboard.press("Enter")
    cell = page.page.locator(".jp-Cell.jp-mod-active")
    expect(cell).to_contain_text("zip(xs, ys):")
    expect(cell.locator(".cm-content")).to_be_focused()
    page.page.keyboard.press("Home")
    page.page.keyboard.insert_text("#")
    expect(page.page.locator(".nbddp-findings [role=status]")).not_to_have_text("")
    assert any("#" in page.source(number) for number in (2, 4))
