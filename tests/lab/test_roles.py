"""The part that each cell plays, on the cell; changed by a click, by keys, or in a form."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.server.notebooks import CELLS, notebook

ROLES = ("Kept", "Kept", "Kept", "Train", "Left out")


def test_a_click_changes_the_tag(page, screenshot):
    page.write("roles.ipynb", notebook(tags={5: "mine"}), kernel="none")
    page.open("roles.ipynb")
    page.expect_chips(*ROLES)
    expect(page.chips.nth(2)).to_have_attribute("title", "Kept\nthe training needs model, optimizer")
    page.chips.nth(4).click()
    menu = page.page.get_by_role("menu")
    expect(menu.locator(".lm-mod-toggled")).to_have_text(re.compile("^Automatic – "))
    expect(menu.locator(".lm-Menu-itemIcon svg:visible")).to_have_count(1)
    screenshot(page.page, "chip-menu-light")
    menu.get_by_role("menuitem", name="Setup").or_(menu.get_by_role("menuitemcheckbox", name="Setup")).click()
    page.expect_chips("Kept", "Kept", "Kept", "Train", "Setup")
    assert page.tags(5) == ["mine", "ddp-setup"]


def test_a_cell_that_cannot_be_read_says_so_and_no_other_does(page, screenshot):
    page.write("broken.ipynb", notebook(), kernel="none")
    page.open("broken.ipynb")
    page.set_source(5, "print(")
    page.expect_chips("Kept", "Kept", "Kept", "Train", "Syntax error")
    page.set_source(5, CELLS[4])
    page.set_source(3, f"{CELLS[2]}\nprint(")
    page.expect_chips("Kept", "Kept", "Syntax error", "Train", "Left out")
    expect(page.chips.nth(2)).to_have_attribute("data-level", "error")
    page.command("nbddp:check")
    expect(page.page.locator(".nbddp-finding")).to_have_count(1)
    expect(page.cells.nth(2).locator(".nbddp-banner")).to_contain_text("not valid Python: '(' was never closed line 3")
    screenshot(page.page, "syntax-error")
    page.set_source(3, CELLS[2])
    page.set_source(4, f"%%ddp_train\n{CELLS[3]}\nprint(")
    page.expect_chips("Train · Syntax error")
    page.set_source(4, "%%ddp_train")
    page.expect_chips("Train · 1 error")


def test_with_the_keyboard_alone(page):
    page.write("keys.ipynb", notebook(), kernel="none")
    page.open("keys.ipynb")
    page.expect_chips(*ROLES)
    page.chips.nth(1).focus()
    page.page.keyboard.press("Enter")
    expect(page.page.locator(".lm-Menu")).to_be_visible()
    for _ in range(2):
        page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    page.expect_chips("Kept", "Setup", "Kept", "Train", "Left out")
    assert page.tags(2) == ["ddp-setup"]
    expect(page.chips.nth(1)).to_be_focused()


def measured(page) -> list[dict[str, float]]:
    return [page.cells.nth(at).bounding_box() for at in range(5)]


def test_what_is_typed_is_seen(page):
    page.write("typed.ipynb", notebook(), kernel="none")
    page.open("typed.ipynb")
    page.expect_chips(*ROLES)
    expect(page.page.locator(".jp-NotebookPanel [data-command='nbddp:export']").first).to_be_visible()
    page.until(lambda: measured(page) == measured(page))  # the page's panels are where they stay
    boxes = measured(page)
    for number in range(5):
        chip, line = (
            page.chips.nth(number).bounding_box(),
            page.cells.nth(number).locator(".cm-line").first.bounding_box(),
        )
        assert chip["y"] + chip["height"] < line["y"] + line["height"] / 2  # no code is hidden
    page.set_source(5, f"#| ddp: rank0\n{CELLS[4]}")
    page.expect_chips("Kept", "Kept", "Kept", "Train", "Rank 0")
    page.set_source(5, CELLS[4])
    page.expect_chips(*ROLES)
    assert measured(page) == boxes  # nothing has moved
    page.chips.nth(3).click()
    expect(page.page.locator(".lm-Menu-item.lm-mod-disabled")).to_have_count(0)
    page.page.keyboard.press("Escape")
    page.set_source(4, f"%%ddp_train\n{CELLS[3]}")
    expect(page.chips.nth(3)).to_have_attribute("title", "Train\nmarked by %%ddp_train")
    page.chips.nth(3).click()
    expect(page.page.locator(".lm-Menu-item.lm-mod-disabled")).to_have_count(8)
    expect(page.page.locator(".lm-Menu-item.lm-mod-toggled")).to_have_text(re.compile("^Train – "))


def test_a_form_offers_the_same(page):
    page.write("form.ipynb", notebook(), kernel="none")
    page.open("form.ipynb")
    page.expect_chips(*ROLES)
    page.cells.nth(2).locator(".cm-content").click()
    page.command("property-inspector:show-panel")
    page.page.locator(".jp-Collapse-header").filter(has_text="DDP").click()
    role = page.page.locator("select.nbddp-role")
    expect(role).to_have_value("")
    role.select_option(label="Rank 0")
    page.expect_chips("Kept", "Kept", "Rank 0", "Train", "Left out")
    assert page.tags(3) == ["ddp-rank0"]


def test_an_expert_says_what_wraps_and_what_connects(page, screenshot):
    wrap = "def wrap(model, device):\n    return torch.nn.parallel.DistributedDataParallel(model)"
    page.write("expert.ipynb", notebook(*CELLS[:3], wrap, CELLS[3]), kernel="none")
    page.open("expert.ipynb")
    page.expect_chips("Kept", "Kept", "Kept", "Left out", "Train")
    page.chips.nth(3).click()
    screenshot(page.page, "chip-menu-expert")
    page.page.get_by_role("menu").get_by_text("Wraps – Its wrap(model, device)").click()
    page.expect_chips("Kept", "Kept", "Kept", "Wraps", "Train")
    assert page.tags(4) == ["ddp-wrap"]


def test_several_cells_that_train_ask(page):
    page.write("several.ipynb", notebook(*CELLS[:4], CELLS[3]), kernel="none")
    page.open("several.ipynb")
    expect(page.chips).to_have_count(2)
    expect(page.chips.first).to_contain_text("Trains?")
    page.chips.nth(1).click()
    page.page.get_by_text("Train – This is the training cell").click()
    expect(page.chips.nth(4)).to_have_text("Train")
    assert page.tags(5) == ["ddp-train"]


def test_a_notebook_that_trains_nothing_is_left_alone(page):
    page.write("plain.ipynb", notebook("x = 1", "print(x)"), kernel="none")
    with page.page.expect_response("**/nbddp/api/check*"):
        page.open("plain.ipynb")
    expect(page.chips).to_have_count(0)
