"""Every view under axe, in the light, the dark and the high-contrast theme."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from nbddp.run.folder.folders import create
from tests.server.notebooks import CELLS, notebook

OURS = [".nbddp-chip", ".nbddp-findings", ".nbddp-banner", ".nbddp-preview", ".nbddp-runs", ".nbddp-form"]


def violations(page) -> list[str]:
    there = [[selector] for selector in OURS if page.page.locator(selector).count()]
    found = Axe().run(page.page, context={"include": there}, options={"runOnly": ["wcag2a", "wcag2aa"]})
    return [
        f"{one['id']}: {node['target']} {node['failureSummary']}"
        for one in found.response["violations"]
        for node in one["nodes"]
    ]


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast"])
def test_nothing_stands_in_the_way_of_anybody(page, theme, screenshot):
    name = theme.split()[1].lower() + ("-contrast" if "Contrast" in theme else "")
    cells = (*CELLS[:3], CELLS[3].replace("in loader", "in batches()"), "def batches():\n    yield 1, 2")
    page.write(f"{name}/digits.ipynb", notebook(*cells[:3], cells[4], cells[3]), kernel="none")
    run = create(page.root / name, "digits")
    run.script.write_text("print()\n")
    page.open(f"{name}/digits.ipynb")
    page.js("(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})", theme)
    expect(page.chips).not_to_have_count(0)
    page.command("nbddp:export")
    expect(page.page.locator(".nbddp-banner").first).to_be_visible()
    assert violations(page) == []
    page.command("nbddp:run")
    expect(page.page.locator(".nbddp-form")).to_be_visible()
    assert violations(page) == []
    page.page.keyboard.press("Escape")
    page.set_source(5, CELLS[3])
    page.command("nbddp:preview")
    expect(page.page.locator(".nbddp-preview .nbddp-line:visible").first).to_be_visible()
    screenshot(page.page, f"all-{name}")
    assert violations(page) == []
    page.command("nbddp:runs")
    expect(page.page.locator(".nbddp-runs .nbddp")).to_be_visible()
    screenshot(page.page, f"runs-{name}")
    assert violations(page) == []


@pytest.fixture(autouse=True)
def _as_it_was(page):
    """The theme is kept by the server, for all pages."""
    yield
    page.js("() => jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})")
