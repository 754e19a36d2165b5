"""The page's side of the widget, in a real browser, fed with what the kernel's side really sends."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import comm
import pytest
from playwright.sync_api import Browser, Page, expect

from nbddp.documentation import page_of
from nbddp.run.state.fold import fold
from nbddp.run.state.state import RunState
from nbddp.widget.live import RunWidget
from nbddp.widget.subject import Subject
from nbddp.widget.terminal import last_lines
from nbddp.widget.view import facts, snapshot
from tests.widget.runs import START, WARNING, ended, events, failed, running
from tests.widget.sent import SUBJECT, Recorded, update

ORIGIN = "http://page.test/"
MODEL = """(state) => {
    const listeners = {};
    window.sent = [];
    window.model = {
        get: (name) => state[name],
        set: (name, value) => model.receive({[name]: value}),
        on: (name, callback) => (listeners[name] ??= []).push(callback),
        send: (message) => sent.push(message),
        save_changes: () => { throw Error("nothing is ever sent back as state"); },
        receive: (update) => {
            Object.assign(state, update);
            for (const name of Object.keys(update)) listeners[`change:${name}`]?.forEach((callback) => callback());
        },
    };
}"""
MOUNT = """async () => {
    const {default: widget} = await import("/run.js");
    widget.initialize({model});
    window.unmount = widget.render({model, el: document.getElementById("place")});
}"""


class Mounted:
    """A widget whose messages reach the page."""

    def __init__(self, page: Page, state: RunState, subject: Subject = SUBJECT) -> None:
        self.page = page
        self.subject = subject
        self.widget = RunWidget(lambda _: None, facts(state, subject, state.updated))
        page.evaluate(MODEL, self.widget.comm.published[0][1]["state"])
        page.evaluate(MOUNT)

    def show(self, state: RunState, lines: Sequence[str] = ("a",), *, lose: bool = False, now: float = 0.0) -> None:
        message = update(self.widget, state, lines, now=now, subject=self.subject)
        if not lose:
            self.page.evaluate("async (m) => { model.receive(m); await new Promise(requestAnimationFrame); }", message)


@pytest.fixture
def page(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    monkeypatch.setattr(comm, "create_comm", Recorded)
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    html = f"<!doctype html><link rel=icon href=data:,><style>{RunWidget._css}</style><div id=place></div>"
    page.route(f"{ORIGIN}**", lambda route: route.fulfill(body=html, content_type="text/html"))
    script = {"body": RunWidget._esm, "content_type": "text/javascript"}
    page.route(f"{ORIGIN}run.js", lambda route: route.fulfill(**script))
    page.goto(ORIGIN)
    page.set_default_timeout(20_000)
    yield page
    page.close()
    assert errors == []


@pytest.fixture
def mounted(page: Page) -> Mounted:
    mounted = Mounted(page, running(0))
    mounted.show(running(220))
    return mounted


def test_it_shows_where_the_run_is(page, mounted, screenshot):
    expect(page.get_by_role("group", name="Run digits")).to_be_visible()
    expect(page.get_by_role("status").first).to_have_text("Training")
    expect(page.get_by_text("Epoch 8 of 10")).to_be_visible()
    expect(page.get_by_text("Batch 10 of 30")).to_be_visible()
    expect(page.get_by_text("50 steps/s")).to_be_visible()
    expect(page.get_by_role("progressbar", name="Training")).to_have_attribute("aria-valuenow", "73")
    expect(page.get_by_role("tab", name="Rank 1 cuda:1 step 220 · 1.2 GiB")).to_be_visible()
    expect(page.get_by_role("img")).to_have_count(3)
    expect(page.get_by_role("img").nth(1)).to_have_attribute(
        "aria-label",
        "train_loss by epoch: latest 0.3842, lowest 0.3842, highest 2.2; "
        "val_loss by epoch: latest 0.4842, lowest 0.4842, highest 2.3",
    )
    screenshot(page, "page-light")


def test_nothing_jumps_when_the_first_step_comes(page):
    mounted = Mounted(page, running(0))
    before = page.locator(".nbddp").bounding_box()
    expect(page.get_by_text("Curves appear with the first step.")).to_be_visible()
    mounted.show(running(10))
    expect(page.locator("figure path")).to_be_visible()
    assert page.locator(".nbddp").bounding_box() == before


def test_a_lost_message_is_made_good_by_the_next_whole(page):
    mounted = Mounted(page, running(0))
    mounted.show(running(31), ["x" * 2000] * 50)  # a whole of 100 kB: the next is not due for two seconds
    mounted.show(running(33), ["lost"], lose=True, now=0.1)
    mounted.show(running(35), ["too new"], now=0.2)
    expect(page.get_by_text("Batch 5 of 30")).to_be_visible()
    expect(page.get_by_role("tabpanel")).not_to_contain_text("too new")
    mounted.show(running(37), ["made good"], now=3.0)
    expect(page.get_by_role("tabpanel")).to_have_text("made good")
    assert page.evaluate("model.get('whole').n") == 4


def test_news_add_up_to_what_the_kernel_has(page, mounted):
    for step in range(221, 300, 3):
        mounted.show(running(step), [f"line {number}" for number in range(step - 210, step)], now=0.1)
    assert page.evaluate("model.get('whole')") == mounted.widget.get_state("whole")["whole"]


def test_log_text_stays_text(page, mounted):
    hostile = '<script>document.title = "taken"</script><img src=x onerror="document.title = 1">'
    mounted.show(running(221), last_lines(f"{hostile}\n\x1b[1;31mred\x1b[0m not\n 1%|\r99%|\n{'x' * 9000}\n"))
    log = page.get_by_role("tabpanel", name="Log of rank 0")
    expect(log.locator("div")).to_have_text([hostile, "red not", "99%|", "x" * 2000 + " … 7,000 more characters"])
    expect(log.locator("span")).to_have_css("color", "rgb(229, 72, 77)")
    expect(log.locator("span")).to_have_css("font-weight", "700")
    assert log.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    assert page.locator(".nbddp script, .nbddp img").count() == 0
    assert page.title() == ""


@pytest.mark.parametrize(
    ("codes", "colour"),
    [
        ("38;5;208", "rgb(255, 135, 0)"),
        ("38;2;1;2;3", "rgb(1, 2, 3)"),
        ("38;5;250", "rgb(188, 188, 188)"),
        ("96", "rgb(13, 147, 173)"),
    ],
)
def test_other_colours(page, mounted, codes, colour):
    mounted.show(running(221), last_lines(f"\x1b[{codes}mcoloured\x1b[39mnot\n"))
    expect(page.get_by_text("coloured", exact=True)).to_have_css("color", colour)
    expect(page.get_by_role("tabpanel")).to_have_text("colourednot")


def test_a_reader_of_the_log_is_left_in_peace(page, mounted):
    log = page.get_by_role("tabpanel")
    lines = [f"line {number}" for number in range(100)]
    mounted.show(running(221), lines)
    assert log.evaluate("(box) => box.scrollHeight - box.scrollTop - box.clientHeight") < 2
    page.evaluate("window.kept = document.querySelector('.nd-log').children[50]")
    scrolled = "(box) => new Promise((done) => { box.addEventListener('scroll', done); box.scrollTop = 300; })"
    log.evaluate(scrolled)
    mounted.show(running(222), [*lines[10:], "a new one"])
    assert log.evaluate("(box) => box.children[40] === kept")
    assert log.evaluate("(box) => box.scrollHeight - box.scrollTop - box.clientHeight") > 100
    assert log.locator("div").last.inner_text() == "a new one"
    assert log.evaluate("(box) => box.scrollTop") <= 300
    assert log.evaluate("(box) => box.scrollHeight - box.scrollTop - box.clientHeight") > 100


def test_the_end_of_the_log_is_in_sight_when_a_hidden_page_is_shown(page):
    page.evaluate("document.getElementById('place').style.display = 'none'")
    mounted = Mounted(page, running(0))
    mounted.show(running(221), [f"line {number}" for number in range(100)])
    page.evaluate("document.getElementById('place').style.display = ''")
    expect(page.get_by_text("line 99")).to_be_in_viewport()


def test_ranks_are_tabs_for_the_keyboard(page, mounted):
    page.get_by_role("tab", name="Rank 0").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Rank 1")).to_be_focused()
    expect(page.get_by_role("tab", name="Rank 1")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel", name="Log of rank 1")).to_have_text("of rank 1")
    page.keyboard.press("Home")
    expect(page.get_by_role("tabpanel", name="Log of rank 0")).to_have_text("a")


def test_values_of_a_curve_by_mouse_and_by_keyboard(page, mounted):
    figure = page.locator("figure").nth(2)
    box = figure.locator("svg").bounding_box()
    figure.locator("svg").hover(position={"x": box["width"] - 12, "y": 50})
    expect(figure.locator("figcaption")).to_have_text("accuracy 0.8782epoch 7")
    page.mouse.move(0, 0)
    expect(figure.locator("figcaption")).to_have_text("accuracy 0.8782")
    figure.locator("svg").focus()
    page.keyboard.press("Home")
    expect(figure.locator("figcaption")).to_have_text("accuracy 0.1epoch 1")
    page.keyboard.press("ArrowRight")
    expect(figure.locator("figcaption")).to_have_text("accuracy 0.3551epoch 2")
    page.keyboard.press("Escape")
    expect(figure.locator("figcaption")).to_have_text("accuracy 0.8782")


def test_logarithmic_scale(page, mounted):
    figure = page.locator("figure").first
    before = figure.locator("path").get_attribute("d")
    figure.get_by_role("button", name="log").click()
    expect(figure.get_by_role("button", name="log")).to_have_attribute("aria-pressed", "true")
    assert figure.locator("path").get_attribute("d") != before
    mounted.show(running(230))
    expect(figure.get_by_role("button", name="log")).to_have_attribute("aria-pressed", "true")


def test_a_chart_is_smoothed_enlarged_and_without_a_curve(page, mounted):
    figure = page.locator("figure").nth(1)
    figure.get_by_role("button", name="val_loss").click()
    expect(figure.get_by_role("button", name="val_loss")).to_have_attribute("aria-pressed", "false")
    expect(figure.locator("path")).to_have_count(1)
    expect(figure.get_by_role("img")).to_have_attribute("aria-label", re.compile("^train_loss by epoch[^;]*$"))
    expect(figure.get_by_role("button", name="Smooth the curves")).to_be_hidden()  # seven points are no noise
    steps, height = page.locator("figure").first, "(figure) => figure.querySelector('svg').clientHeight"
    steps.get_by_role("button", name="Smooth the curves").click()
    expect(steps.locator("path")).to_have_count(2)
    small = steps.evaluate(height)
    steps.get_by_role("button", name="Enlarge the chart").click()
    assert steps.evaluate(height) > 2 * small
    assert steps.bounding_box()["width"] > page.locator(".nd-charts").bounding_box()["width"] - 30
    mounted.show(running(230))
    expect(steps.locator("path")).to_have_count(2)
    expect(figure.locator("path")).to_have_count(1)


def test_the_numbers_of_the_charts_as_a_table(page, mounted):
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    rows = download.value.path().read_text().splitlines()
    assert download.value.suggested_filename == "digits.csv"
    assert rows[:2] == ["name,source,axis,at,value", "loss,step,step,1,2.4"]
    assert "accuracy,epoch,epoch,7,0.878198" in rows


def test_charts_keep_their_order_when_a_notebook_sorts_their_names(page, screenshot):
    """And the header its state and name, whatever the width; no row of charts has a hole."""
    whole = snapshot(failed(), Subject("script.py"), logs={0: ["a"]})
    whole["series"] = dict(reversed(whole["series"].items()))
    page.evaluate(
        "async (whole) => (await import('/run.js')).draw(document.getElementById('place'), whole, {stop: () => 0})",
        {**whole, "over": False, "name": "a-name-of-some-length"},
    )
    for width in (1400, 900, 600, 400):
        page.set_viewport_size({"width": width, "height": 1000})
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        expect(page.locator("figcaption")).to_contain_text(["loss", "train_loss", "accuracy"])
        frame = page.locator(".nbddp").bounding_box()
        for shown in (page.get_by_role("status").first, page.get_by_text("a-name-of-some-length")):
            box = shown.bounding_box()
            assert box["x"] + box["width"] <= frame["x"] + frame["width"]
            assert shown.evaluate("(element) => element.scrollWidth <= element.clientWidth || !element.clientWidth")
        boxes = [figure.bounding_box() for figure in page.locator("figure").all()]
        rows = {box["y"]: max(b["x"] + b["width"] for b in boxes if b["y"] == box["y"]) for box in boxes}
        assert all(end > frame["width"] - 40 for end in rows.values())
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            screenshot(page, f"page-{width}-{scheme}")


def test_stopping_by_grades(page, mounted):
    button = page.get_by_role("button", name="Finish epoch")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    button.dispatch_event("click")
    mounted.show(fold(running(230), {"event": "stopping", "rank": None, "time": START + 9, "grade": "epoch"}))
    expect(page.get_by_role("status").first).to_have_text("Finishing this epoch")
    page.get_by_role("button", name="Stop (keep checkpoint)").click()
    expect(button).to_have_attribute("aria-disabled", "true")
    page.get_by_role("button", name="Kill").click()
    assert [message["grade"] for message in page.evaluate("sent")] == ["epoch", "now"]
    page.get_by_role("button", name="Really kill?").click()
    assert page.evaluate("sent") == [{"type": "stop", "grade": grade} for grade in ("epoch", "now", "kill")]


def test_a_kernel_that_does_not_answer_is_told_of(page):
    page.clock.install()
    Mounted(page, running(220))
    hint = page.get_by_role("status").last
    page.clock.run_for(14_000)
    expect(hint).to_have_text("")
    page.clock.run_for(3_000)
    expect(hint).to_contain_text("No message from the kernel for 1")
    page.get_by_role("button", name="Stop (keep checkpoint)").click()
    page.clock.run_for(4_000)
    expect(hint).to_contain_text("Interrupt the cell to stop the run.")


def test_the_clock_goes_on_between_updates_and_stands_at_the_end(page):
    page.clock.install()
    mounted = Mounted(page, running(220))
    expect(page.get_by_text("0:05 · 2 ranks · warm start")).to_be_visible()
    page.clock.run_for(60_000)
    expect(page.get_by_text("1:05 · 2 ranks · warm start")).to_be_visible()
    mounted.show(ended(running(300)))
    page.clock.run_for(60_000)
    expect(page.get_by_text("1:00 · 2 ranks · warm start")).to_be_visible()


def test_the_end(page, mounted, screenshot):
    mounted.show(ended(running(300)))
    expect(page.get_by_role("status").first).to_have_text("Done")
    expect(page.get_by_role("button", name="Stop (keep checkpoint)")).to_be_hidden()
    expect(page.get_by_role("progressbar", name="Training")).to_have_attribute("aria-valuenow", "100")
    expect(page.get_by_text("left")).to_have_count(0)
    screenshot(page, "page-done")


def test_a_failure_is_open_and_a_warning_folded(page, screenshot):
    mounted = Mounted(page, running(0), Subject("script.py", (WARNING,)))
    mounted.show(failed())
    expect(page.get_by_text("Rank 1 failed first in epoch 4, step 100: ValueError: sizes <differ>")).to_be_visible()
    expect(page.get_by_text("Traceback line 81 ValueError")).to_be_visible()
    expect(page.get_by_text("help: build it in a cell")).to_be_hidden()
    page.get_by_text("Cell 7, line 12").click()
    expect(page.get_by_text("help: build it in a cell")).to_be_visible()
    expect(page.locator(".nd-rank").nth(1)).to_have_attribute("data-tone", "bad")
    screenshot(page, "page-failed")


def test_a_finding_links_to_its_page_and_to_nothing_that_runs(page, monkeypatch):
    """What is drawn may come from a notebook that somebody else has saved."""
    Mounted(page, running(10), Subject("x.py", (WARNING,)))
    link = page.locator(".nd-notices a")
    expect(link).to_have_attribute("href", page_of(WARNING.rule))
    monkeypatch.setattr("nbddp.widget.notices.page_of", lambda _: "javascript:alert(1)")
    Mounted(page, running(10), Subject("x.py", (WARNING,)))
    expect(page.locator(".nd-notices li").first).to_contain_text("val_loader")
    assert page.locator('a[href^="javascript"]').count() == 0


def test_it_goes_with_the_theme(page, mounted):
    root = page.locator(".nbddp")
    expect(root).to_have_css("background-color", "rgb(255, 255, 255)")
    page.emulate_media(color_scheme="dark")
    expect(root).to_have_css("background-color", "rgb(18, 18, 18)")
    page.evaluate("document.body.setAttribute('data-jp-theme-light', 'true')")
    expect(root).to_have_css("background-color", "rgb(255, 255, 255)")
    page.evaluate("document.documentElement.style.setProperty('--jp-layout-color1', '#123456')")
    expect(root).to_have_css("background-color", "rgb(18, 52, 86)")


def test_it_leaves_nothing_behind(page, mounted):
    page.evaluate("() => unmount()")
    assert page.locator("#place").inner_html() == ""
    mounted.page.evaluate("model.receive({facts: model.get('facts')})")
    page.evaluate("() => new Promise(requestAnimationFrame)")


def test_another_page_can_draw_without_a_widget(page):
    state = running(220)
    snapshot = {**facts(state, Subject("script.py")), "series": {}, "logs": {}}
    page.evaluate(
        """async (snapshot) => {
            const {draw} = await import("/run.js");
            window.opened = [];
            draw(document.getElementById("place"), snapshot, {open: (path) => opened.push(path)});
        }""",
        snapshot,
    )
    expect(page.get_by_role("button", name="Stop (keep checkpoint)")).to_be_hidden()
    page.get_by_role("link", name="script.py").click()
    assert page.evaluate("opened") == ["script.py"]


def test_in_jupyter_the_script_opens_on_a_click(page):
    page.evaluate(
        """() => {
            const config = document.createElement("script");
            Object.assign(config, {id: "jupyter-config-data", type: "application/json"});
            config.textContent = JSON.stringify({serverRoot: "/work/notebooks"});
            document.head.append(config);
        }"""
    )
    Mounted(page, running(220), Subject("/work/notebooks/a b/script.py"))
    link = page.get_by_role("link", name="/work/notebooks/a b/script.py")
    expect(link).to_have_attribute("data-commandlinker-command", "docmanager:open")
    expect(link).to_have_attribute("data-commandlinker-args", '{"path":"a b/script.py"}')


@pytest.mark.parametrize("world", [1, 8])
def test_many_ranks(page, world, screenshot):
    mounted = Mounted(page, running(0, world=world))
    mounted.show(running(100, world=world))
    expect(page.get_by_role("tab")).to_have_count(world)
    screenshot(page, f"page-{world}-ranks")


def test_length_unknown(page):
    happened = [event | {"epochs": None, "batches": None, "steps": None} for event in events(40)]
    mounted = Mounted(page, RunState())
    state = RunState()
    for event in happened:
        state = fold(state, event)
    mounted.show(state)
    expect(page.get_by_text("Epoch 2", exact=True)).to_be_visible()
    expect(page.get_by_text("Step 40", exact=True)).to_be_visible()
    assert page.get_by_role("progressbar", name="Training").get_attribute("aria-valuenow") is None


@pytest.fixture
def evaluated(page: Page) -> Callable[[str], Any]:
    return lambda expression: page.evaluate(
        f"async () => {{ const m = await import('/run.js'); return {expression}; }}"
    )


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("[7.9, 754, 3723].map(m.duration)", ["0:07", "12:34", "1:02:03"]),
        (
            "[120, 15000, 0.31274, 12.5, 3.1e-5, 2e7].map(m.number)",
            ["120", "15,000", "0.3127", "12.5", "3.10e-5", "2.00e+7"],
        ),
        ("m.scale(0, 1, 0, 100, 0, false).ticks(4)", [0, 0.2, 0.4, 0.6, 0.8, 1]),
        ("m.scale(1, 1000, 0, 100, 0, true).ticks(4)", [1, 10, 100, 1000]),
        ("[1, 10, 1000].map(m.scale(1, 1000, 0, 90, 0, true)).map(Math.round)", [0, 30, 90]),
        ("m.scale(5, 5, 0, 100, 0, false)(5)", 50),
        ("m.scale(0, 0, 0, 100, 0, false)(0)", 50),
        ("m.scale(2, 4, 0, 100, 0, false).invert(50)", 3),
    ],
)
def test_numbers_of_the_page(evaluated, expression, value):
    assert evaluated(expression) == value
