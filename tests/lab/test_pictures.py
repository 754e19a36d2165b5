"""The quickstart as the README shows it; `make pictures` keeps what is seen here in docs/pictures."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from tests.lab.installed import ROOT


def test_the_quickstart_in_pictures(page, screenshot):
    """Its charts are the loss and the accuracy that it prints, and none of the sums that these are made of."""
    page.write("pictures/quickstart.ipynb", json.loads((ROOT / "examples" / "quickstart.ipynb").read_text()))
    page.page.set_viewport_size({"width": 1200, "height": 760})
    page.open("pictures/quickstart.ipynb", kernel=True)
    page.js("() => jupyterapp.commands.execute('application:toggle-left-area')")
    expect(page.page.locator(".nbddp-chip[data-role=train]")).to_be_visible()
    page.command("nbddp:preview")
    expect(page.page.locator(".nbddp-preview .nbddp-line:visible").first).to_be_visible()
    page.page.locator(".nbddp-preview [data-cell='8']").first.locator("code").click()
    expect(page.page.locator(".jp-Notebook .jp-Cell.jp-mod-active .nbddp-chip")).to_be_in_viewport()
    screenshot(page.page, "preview")
    page.js("() => Array.from(jupyterapp.shell.widgets('main')).find(one => /preview/.test(one.id)).close()")
    expect(page.page.locator(".nbddp-preview")).to_have_count(0)
    page.command("notebook:run-all-cells")
    run = page.cells.nth(7).locator(".nbddp")
    expect(run.get_by_role("status").first).to_have_text("Done", timeout=120_000)
    names = run.locator("figcaption")
    expect(names).to_have_count(3)
    assert [text.rpartition(" ")[0] for text in names.all_inner_texts()] == ["loss", "loss", "validation accuracy"]
    expect(page.cells.nth(10).locator(".jp-InputPrompt")).to_have_text("[7]:")
    run.locator("header").evaluate("(header) => header.parentNode.scrollIntoView({block: 'start'})")
    expect(run.get_by_text("warm start")).to_be_visible()
    screenshot(page.page, "run")
