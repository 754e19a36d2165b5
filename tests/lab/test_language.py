"""No English is left on the page where a language pack has every text."""

from __future__ import annotations

import importlib.util
import io
import json
import re

import pytest
from playwright.sync_api import expect

from nbddp.run.folder.folders import create
from tests.lab.conftest import serve, visit
from tests.lab.installed import ROOT
from tests.lab.languages import LOCALE, SETTING, TEMPLATE, write_pack
from tests.server.notebooks import CELLS, notebook

FAILED = [
    {"event": "launch", "time": 1.0, "name": "1-2", "nproc": 2},
    {"event": "rank", "time": 2.0, "rank": 1},
    {"event": "died", "time": 8.0, "rank": 1, "signal": "SIGKILL"},
    {"event": "exit", "time": 9.0, "status": 1},
]
# All that a person reads or hears of the elements, but for code, logs, and what a user has named.
TEXTS = """(selector) => {
    const found = [], skipped = "pre, code, .nd-log, .nbddp-lines code, .cm-editor";
    const names = ["title", "aria-label", "placeholder", "aria-valuetext"];
    for (const root of document.querySelectorAll(selector)) {
        const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (nodes.nextNode())
            if (!nodes.currentNode.parentElement.closest(skipped)) found.push(nodes.currentNode.data);
        for (const one of [root, ...root.querySelectorAll("*")])
            found.push(...names.map(name => one.getAttribute(name) ?? ""));
    }
    return found.filter(text => text.trim());
}"""


@pytest.fixture(scope="module")
def elsewhere(installed, tmp_path_factory):
    packs = tmp_path_factory.mktemp("packs")
    write_pack(packs)
    settings = {SETTING: {"locale": LOCALE}}
    yield from serve(
        installed,
        tmp_path_factory,
        "jupyterlab",
        "--LabApp.expose_app_in_browser=True",
        settings=settings,
        environment={"PYTHONPATH": str(packs)},
    )


@pytest.fixture
def page(browser, elsewhere):
    yield from visit(browser, *elsewhere)


def english(page, selector: str, *names: str) -> list[str]:
    """What is outside of brackets and is neither a number nor a name that a user gave."""
    expect(page.page.locator(selector).first).to_be_visible()
    left = []
    for text in page.js(TEXTS, selector):
        rest, count = text, 1
        while count:
            rest, count = re.subn(r"⟦[^⟦⟧]*⟧", "", rest)
        for name in (*names, "main area content", "notebook content"):  # JupyterLab's own names for it
            rest = rest.replace(name, "")
        if re.search(r"[A-Za-z]{2}|⟦|⟧", rest):
            left.append(text)
    return left


def test_the_template_is_that_of_the_sources():
    """`python tools/messages.py` writes it."""
    location = importlib.util.spec_from_file_location("messages", ROOT / "tools" / "messages.py")
    tool = importlib.util.module_from_spec(location)
    location.loader.exec_module(tool)
    now = io.BytesIO()
    tool.write(now)
    assert now.getvalue() == TEMPLATE.read_bytes()


def test_notebook(page, screenshot):
    page.write("1.ipynb", notebook(*CELLS[:4], "print(x)", tags={2: "ddp-setup"}), kernel="none")
    page.open("1.ipynb")
    page.expect_chips("⟦Kept⟧", "⟦Setup⟧", "⟦Kept⟧", "⟦Train⟧", "⟦Left out⟧")
    assert (
        english(page, ".nbddp-chip", "loader, xs, ys", "DataLoader, TensorDataset, nn, torch", "model, optimizer") == []
    )
    page.chips.first.click()
    assert english(page, ".lm-Menu") == []
    screenshot(page.page, "language-chips")
    page.page.keyboard.press("Escape")
    buttons = "[data-command^='nbddp:']"
    assert english(page, buttons, "Alt+Shift+E", "Alt+Shift+R", "Alt+Shift+P") == []
    page.command("nbddp:run")
    assert english(page, ".nbddp-form", "--checkpoint-every 10m", "--lr 0.1") == []
    expect(page.page.locator(".jp-Dialog-header")).to_have_text("⟦Train cell 4 with DDP⟧")
    screenshot(page.page, "language-form")
    page.page.keyboard.press("Escape")
    page.command("nbddp:preview")
    expect(page.page.locator(".nbddp-line:visible").first).to_be_visible()
    assert english(page, ".nbddp-preview") == []
    page.command("nbddp:check")
    assert english(page, ".nbddp-findings", ".ipynb") == []
    page.cells.nth(2).locator(".cm-content").click()
    page.command("property-inspector:show-panel")
    page.page.locator(".jp-Collapse-header").filter(has_text="DDP").click()
    assert english(page, ".nbddp-role-field") == []


# A note that has a sentence in its sentence, and errors: of a mark, and of code that has neither a reason nor a place.
FOUND = (
    CELLS[0],
    CELLS[1],
    "class Net(nn.Linear):\n    def train(self, xs, ys):\n        return (self(xs) - ys).square().mean()\n\n\n"
    + CELLS[2].replace("nn.Linear", "Net"),
    "#| ddp: 100%1",
    CELLS[3].replace("(model(x) - y).square().mean()", "model.train(x, y) * rate"),
)


def test_findings(page, screenshot):
    page.write("2.ipynb", notebook(*FOUND), kernel="none")
    page.open("2.ipynb")
    page.command("nbddp:check")
    findings = page.page.locator(".nbddp-findings")
    expect(findings).to_contain_text("⟦no cell before this one defines 'rate'⟧")
    expect(findings).to_contain_text("⟦nbddp does not know the mark '#| ddp: 100%1', so it has no effect⟧")
    through = "⟦it is trained through 'model.train(…)' instead of its forward()⟧"
    expect(findings).to_contain_text(f"⟦DDP cannot wrap this model: {through}⟧")
    assert english(page, ".nbddp-findings", "2.ipynb") == []
    banners = page.page.locator(".nbddp-banner")
    expect(banners).to_have_count(3)
    expect(banners.nth(2)).to_contain_text(
        "⟦Help: ⟦it may exist only in an earlier kernel session: define it in a cell⟧⟧"
    )
    assert english(page, ".nbddp-banner") == []
    expect(page.chips.nth(2)).to_have_attribute("title", re.compile(through.replace("(", r"\(").replace(")", r"\)")))
    assert english(page, ".nbddp-chip") == []
    screenshot(page.page, "language-findings")


def test_a_refusal(page):
    path = page.write("r.ipynb", notebook("x <- 1"), kernel="none")
    path.write_text(path.read_text().replace("python-of-nobody", "R"))
    page.open("r.ipynb")
    page.command("nbddp:export")
    expect(page.page.locator(".Toastify__toast")).to_contain_text("⟦r.ipynb is a notebook in R, not in Python.⟧")


def test_runs(page, screenshot):
    page.write("runs/1.ipynb", notebook("x = 1"), kernel="none")
    page.open("runs/1.ipynb")
    page.command("nbddp:runs")
    expect(page.page.locator(".nbddp-runs")).to_contain_text(
        "⟦No runs in this folder yet: run a cell with %%ddp_train.⟧"
    )
    run = create(page.root / "runs", "1-2")
    run.script.write_text("print()\n")
    run.events.write_text("".join(f"{json.dumps(one)}\n" for one in FAILED))
    page.command("nbddp:log")
    missing = f"⟦The run {run.name} has no log of rank 0.⟧"
    expect(page.page.locator(".nbddp-preview .nbddp-status")).to_have_text(missing)
    assert english(page, ".nbddp-preview", run.name) == []
    page.command("nbddp:runs")
    shown = page.page.locator(".nbddp-runs .nbddp")
    expect(shown.get_by_role("status").first).to_have_text("⟦Failed⟧")
    expect(shown).to_contain_text("⟦⟦Rank 1⟧ was ended by SIGKILL⟧")
    assert english(page, ".nbddp-runs", str(run.script), run.name, "~", "runs") == []
    screenshot(page.page, "language-runs")
