"""Runs that go on by themselves, as the page finds them: attached in a notebook, stopped, looked at by keys alone."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from nbddp.run.folder.about import read_about
from nbddp.run.folder.folder import RunFolder
from nbddp.run.folder.folders import create
from nbddp.run.run import Run
from nbddp.run.start.command import RunOptions
from tests.server.notebooks import notebook

PRETEND = (Path(__file__).parents[1] / "run" / "scripts" / "pretend.py").read_text()


@pytest.fixture
def train(page):
    """Starts a training in a folder; it needs no torch, and ends by itself after three minutes."""
    runs = []

    def start(folder: str, name: str = "digits") -> Run:
        (page.root / folder).mkdir(exist_ok=True)
        options = RunOptions(arguments=("--epochs", "1200", "--pause", "0.05"))
        runs.append(Run.start(PRETEND, name, options, root=page.root / folder))
        return runs[-1]

    yield start
    for run in runs:
        run.stop("kill")


def close_notebook(page) -> None:
    page.js("() => jupyterapp.commands.execute('application:close')")
    expect(page.page.locator(".jp-NotebookPanel")).to_have_count(0)


def test_a_run_is_attached_in_a_new_notebook_and_in_one_that_is_open(page, train, screenshot):
    """Nobody is asked for a kernel, and the run is stopped from the widget that the cell shows."""
    run = train("attach")
    page.write("attach/other.ipynb", notebook("x = 1"), kernel="none")
    page.open("attach/other.ipynb")
    close_notebook(page)
    page.command("nbddp:runs")
    attach = page.page.locator(".nbddp-runs").get_by_role("button", name="Attach in a notebook")
    attach.click()
    expect(page.cells).to_have_count(1)
    widget = page.cells.first.locator(".nbddp")
    expect(widget.get_by_role("status").first).to_have_text("Training")
    epoch = widget.get_by_text(re.compile(r"^Epoch [\d,]+ of 1,200$")).inner_text()
    expect(widget.get_by_text(epoch, exact=True)).to_have_count(0)
    screenshot(page.page, "attached-light")
    page.command("nbddp:runs")
    attach.click()
    expect(page.cells).to_have_count(2)
    assert page.source(2) == f"%load_ext nbddp\nrun = %ddp attach {run.name}"
    again = page.cells.nth(1).locator(".nbddp")
    again.get_by_role("button", name="Stop (keep checkpoint)").click()
    expect(again.get_by_role("status").first).to_have_text("Stopped")
    expect(widget.get_by_role("status").first).to_have_text("Stopped")
    page.command("nbddp:runs")
    expect(page.page.locator(".nbddp-runs").get_by_role("option")).to_contain_text("Stopped")
    page.until(lambda: run.processes() == [])


def test_the_running_panel_stops_one_and_all(page, train, screenshot):
    runs = [train("several", name) for name in ("first", "second", "third")]
    page.write("several/other.ipynb", notebook("x = 1"), kernel="none")
    page.open("several/other.ipynb")
    page.command("running:show-panel")
    panel = page.page.locator(".jp-RunningSessions")
    items = panel.locator(".jp-RunningSessions-item").filter(has_text=re.compile("first|second|third"))
    expect(items).to_have_count(3)
    screenshot(page.page, "running-light")
    items.filter(has_text="second").hover()
    items.filter(has_text="second").locator("[title=Stop], .jp-RunningSessions-itemShutdown").first.click()
    expect(items).to_have_count(2)
    page.until(lambda: [run.processes() == [] for run in runs] == [False, True, False])
    title = panel.locator(".jp-AccordionPanel-title").filter(has_text="DDP runs")
    title.locator(".jp-RunningSessions-shutdownAll").first.click()
    dialog = page.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("Their last checkpoints are kept")
    dialog.locator(".jp-mod-accept").click()
    expect(items).to_have_count(0)
    page.until(lambda: [run.processes() for run in runs] == [[], [], []])
    assert [run.state.phase for run in runs] == ["stopped"] * 3


def test_runs_by_keys_alone(page, train):
    runs = [train("keys", name) for name in ("first", "second")]
    page.write("keys/other.ipynb", notebook("x = 1"), kernel="none")
    page.open("keys/other.ipynb")
    page.from_palette("DDP Runs")
    rows = page.page.locator(".nbddp-runs").get_by_role("option")
    expect(rows).to_have_count(2)
    expect(rows.first).to_be_focused()
    page.page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
    name = rows.nth(1).locator("b").inner_text()
    expect(page.page.locator(".nbddp-run-shown .nbddp")).to_have_attribute("aria-label", re.compile("^Run "))
    page.tab_to("Stop (keep checkpoint)")
    page.page.keyboard.press("Enter")
    expect(rows.nth(1)).to_contain_text("Stopped")
    page.until(lambda: [run.processes() == [] for run in runs] == [run.name == name for run in runs])
    rows.nth(1).focus()
    page.tab_to("Open log")
    page.page.keyboard.press("Enter")
    expect(page.page.locator(".nbddp-script pre")).to_contain_text("epoch 0: loss 0.5")


def test_the_log_of_any_rank_from_the_palette(page, screenshot):
    """Of the latest run; asked for again, the view that is there shows it."""
    for name in ("earlier", "later"):
        run = create(page.root / "logs", name)
        run.script.write_text("print()\n")
        run.events.write_text(
            '{"event": "launch", "time": 1.0, "nproc": 3}\n{"event": "exit", "time": 9.0, "status": 0}\n'
        )
        run.logs.mkdir(exist_ok=True)
        for rank in range(3):
            run.log(rank).write_text(f"{name}: rank {rank} was here\n")
    page.write("logs/other.ipynb", notebook("x = 1"), kernel="none")
    page.open("logs/other.ipynb")
    page.from_palette("Open Log of DDP Run")
    log = page.page.locator(".nbddp-script pre")
    expect(log).to_have_text("later: rank 0 was here\n")
    ranks = page.page.get_by_role("combobox", name="Rank")
    expect(ranks.get_by_role("option")).to_have_text(["Rank 0", "Rank 1", "Rank 2"])
    expect(ranks).to_be_focused()
    for _ in range(2):
        page.page.keyboard.press("ArrowDown")
    expect(log).to_have_text("later: rank 2 was here\n")
    run.log(2).write_text("later: rank 2 has ended\n")
    page.page.get_by_role("button", name="Refresh", exact=True).click()
    expect(log).to_have_text("later: rank 2 has ended\n")
    assert ranks.bounding_box()["width"] < 300  # as wide as its words
    screenshot(page.page, "log-light")
    page.command("nbddp:log", rank=1)
    expect(log).to_have_text("later: rank 1 was here\n")
    expect(ranks).to_have_count(1)


class Asked:
    """What the page asks the server of a run's files; its clock is ours."""

    def __init__(self, page) -> None:
        self.page, self.begun, self.ended = page.page, 0, 0
        self.page.clock.install()
        self.page.on("request", self._begins)
        self.page.on("requestfinished", self._ends)

    def _begins(self, request) -> None:
        self.begun += "run/text" in request.url

    def _ends(self, request) -> None:
        self.ended += "run/text" in request.url

    def is_over(self) -> bool:
        """All has been answered, and in ten seconds nothing more is asked."""
        before = self.ended
        self.page.clock.run_for(10_000)
        return self.begun == before


END = "element => element.scrollHeight - element.scrollTop - element.clientHeight"


def test_a_log_grows_while_its_run_goes_on(page, train, screenshot):
    """Its reader stays at the end, or where they have gone; when the run has ended, nothing more is asked for."""
    run = train("growing")
    run.folder.log(1).write_text("rank 1 is here\n")
    asked = Asked(page)
    page.write("growing/other.ipynb", notebook("x = 1"), kernel="none")
    page.open("growing/other.ipynb")
    page.command("nbddp:log")
    body = page.page.locator(".nbddp-script")
    log = body.locator("pre")
    page.until(lambda: body.evaluate("element => element.scrollHeight > 2 * element.clientHeight"))
    assert body.evaluate(END) < 24
    lines = log.inner_text().splitlines()
    assert lines == [f"epoch {number}: loss 0.5" for number in range(len(lines))]
    body.evaluate("element => { element.scrollTop = 40; }")
    page.until(lambda: len(log.inner_text().splitlines()) > len(lines))
    assert body.evaluate("element => element.scrollTop") == 40
    body.evaluate("element => { element.scrollTop = element.scrollHeight; }")
    lines = log.inner_text().splitlines()
    page.until(lambda: len(log.inner_text().splitlines()) > len(lines) and body.evaluate(END) < 24)
    screenshot(page.page, "log-grows")
    page.js("rank => document.querySelector('.nbddp-actions select').append(new Option('Rank 1', rank))", "1")
    page.page.get_by_role("combobox", name="Rank").select_option("1")
    expect(log).to_have_text("rank 1 is here\n")
    with run.folder.log(1).open("a") as file:
        file.write("and goes on\n")
    expect(log).to_have_text("rank 1 is here\nand goes on\n")
    page.page.get_by_role("combobox", name="Rank").select_option("0")
    run.stop("kill")
    last = run.folder.log(0).read_text()
    expect(log).to_have_text(last)
    page.until(asked.is_over)
    assert asked.is_over()


def test_a_log_that_is_closed_is_asked_for_no_more(page, train):
    train("closing")
    asked = Asked(page)
    page.write("closing/other.ipynb", notebook("x = 1"), kernel="none")
    page.open("closing/other.ipynb")
    page.command("nbddp:log")
    page.until(lambda: asked.ended > 2)
    page.js("() => jupyterapp.shell.currentWidget.close()")
    expect(page.page.locator(".nbddp-script")).to_have_count(0)
    page.until(asked.is_over)
    assert asked.is_over()


def test_in_a_narrow_place_words_stand_clear_of_their_bars(page, screenshot):
    run = create(page.root / "narrow", "-".join(["a-very-long-name"] * 5))
    run.script.write_text("print()\n")
    events = [
        {"event": "launch", "time": 1.0, "nproc": 2},
        {"event": "epoch", "time": 2.0, "rank": 0, "epoch": 99_998, "epochs": 100_000},
        {"event": "exit", "time": 9.0, "status": 0},
    ]
    run.events.write_text("".join(f"{json.dumps(one)}\n" for one in events))
    page.write("narrow/other.ipynb", notebook("x = 1"), kernel="none")
    page.page.set_viewport_size({"width": 700, "height": 900})
    page.open("narrow/other.ipynb")
    page.command("nbddp:runs")
    bar = page.page.locator(".nbddp-narrow .nd-bar").first
    expect(bar).to_contain_text("Epoch 99,999 of 100,000")
    words, track = bar.locator("span").first.bounding_box(), bar.locator(".nd-track").bounding_box()
    assert words["y"] + words["height"] <= track["y"]
    shown = page.page.locator(".nbddp-runs").bounding_box()
    row = page.page.get_by_role("option").bounding_box()
    assert row["x"] + row["width"] <= shown["x"] + shown["width"]
    screenshot(page.page, "runs-narrow")


def ended_run(root: Path, name: str, lr: float, losses: list[float], status: int = 0) -> RunFolder:
    run = create(root, name)
    run.script.write_text(f"lr = {lr}\nepochs = 3\n")
    events: list[dict[str, object]] = [{"event": "launch", "time": 1.0, "nproc": 2, "name": "other"}]
    for epoch, loss in enumerate(losses):
        events.append({"event": "metrics", "time": 2.0, "rank": 0, "epoch": epoch, "values": {"loss": loss}})
    if status:
        events.append({"event": "error", "time": 8.0, "rank": 1, "type": "ValueError", "message": "bad label"})
    events.append({"event": "exit", "time": 99.0, "status": status})
    run.events.write_text("".join(f"{json.dumps(one)}\n" for one in events))
    return run


def test_runs_side_by_side_and_the_end_of_one(page, screenshot):
    """A table by any column, the chosen ones in one chart; one goes on as far as the page has heard, then ends."""
    ended_run(page.root / "compare", "low", 0.1, [3.0, 1.0, 2.0])
    ended_run(page.root / "compare", "high", 0.5, [3.0, 2.5], status=1)
    asked = []

    def goes_on_at_first(route) -> None:
        response = route.fetch()
        rows = response.json()
        asked.append(rows)
        for row in rows["runs"]:
            row["over"] = row["over"] and (len(asked) > 2 or not row["name"].endswith("high"))
        route.fulfill(response=response, json=rows)

    page.page.route("**/nbddp/api/runs?*", goes_on_at_first)
    page.write("compare/other.ipynb", notebook("x = 1"), kernel="none")
    page.open("compare/other.ipynb")
    page.command("nbddp:runs")
    expect(page.page.get_by_text(re.compile("high: Failed after 1:38"))).to_be_visible()
    page.page.get_by_role("button", name="Compare runs").click()
    table = page.page.locator(".nbddp-compare table")
    heads = ["", "Run", "State", "Duration", "Processes", "Steps/s", "Samples/s", "lr", "loss", "loss, best"]
    expect(table.locator("th")).to_have_text(heads)
    expect(table.locator("tbody tr").nth(1)).to_contain_text("rank 1: ValueError: bad label")
    page.page.get_by_role("button", name="loss, best").click()
    expect(table.locator("tbody tr").first.locator("td").last).to_have_text("1")
    expect(table.locator("th").last).to_have_attribute("aria-sort", "ascending")
    for box in table.get_by_role("checkbox").all():
        box.check()
    chart = page.page.locator(".nbddp-compare figure")
    expect(chart.locator("path")).to_have_count(2)
    expect(chart.locator("figcaption")).to_contain_text(re.compile("low 2.*high 2.5|high 2.5.*low 2"))
    screenshot(page.page, "compare-light")
    page.page.get_by_role("searchbox", name="Search").fill("0.5")
    expect(table.locator("tbody tr")).to_have_count(1)
    found = Axe().run(page.page, context=".nbddp-compare", options={"runOnly": ["wcag2a", "wcag2aa"]})
    assert found.response["violations"] == []


def test_a_run_is_titled_noted_resumed_and_deleted(page, screenshot):
    low, high = (ended_run(page.root / "kept", name, lr, [3.0, lr]) for name, lr in (("low", 0.1), ("high", 0.5)))
    low.checkpoint.write_bytes(b"")
    os.utime(high.path, (1.0, 1.0))  # of a young one that nobody has taken it could be that it is about to start
    page.write("kept/other.ipynb", notebook("x = 1"), kernel="none")
    page.open("kept/other.ipynb")
    page.command("nbddp:runs")
    runs, dialog = page.page.locator(".nbddp-runs"), page.page.locator(".jp-Dialog")
    runs.get_by_role("option", name="low").click()
    runs.get_by_role("button", name="Title and note…").click()
    dialog.get_by_role("textbox", name="Title").fill("small steps")
    dialog.get_by_role("textbox", name="Note").fill("slow\nbut <b>sure</b>")
    dialog.get_by_role("button", name="Save").click()
    expect(runs.get_by_role("option", name="small steps")).to_contain_text(low.name)
    expect(runs.locator(".nbddp-note")).to_have_text("slow\nbut <b>sure</b>")
    assert read_about(low).note == "slow\nbut <b>sure</b>"
    screenshot(page.page, "kept-light")
    runs.get_by_role("button", name="Resume…").click()
    expect(dialog.get_by_role("combobox", name="Resume from")).to_have_value(low.name)
    expect(dialog.get_by_role("combobox", name="Mode")).to_have_value("")
    screenshot(page.page, "form-resume-light")
    page.page.keyboard.press("Escape")
    page.command("nbddp:compare")
    table = page.page.locator(".nbddp-compare table")
    expect(table.locator("tbody tr", has_text="small steps")).to_contain_text("slow")
    delete = page.page.locator(".nbddp-compare").get_by_role("button", name="Delete…")
    expect(delete).to_be_disabled()
    table.get_by_role("checkbox", name=re.compile("high")).check()
    screenshot(page.page, "compare-marked-light")
    delete.click()
    expect(dialog).to_contain_text("Delete 1 run?")
    dialog.get_by_role("button", name="Delete").click()
    expect(table.locator("tbody tr")).to_have_count(1)
    page.until(lambda: not high.path.exists())
    table.get_by_role("button", name="small steps").click()
    expect(runs.get_by_role("option")).to_have_count(1)
    assert low.path.is_dir()
