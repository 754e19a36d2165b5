"""Between page and kernel: news that add up, buttons that are answered or not, links, nothing left behind."""

from __future__ import annotations

import re
from dataclasses import replace

from playwright.sync_api import expect

from nbddp.documentation import page_of
from nbddp.run.state.fold import fold, fold_all
from nbddp.run.state.state import RunState
from nbddp.widget.subject import Subject
from nbddp.widget.view import facts
from tests.widget.page.mounted import Mounted
from tests.widget.runs import START, WARNING, ended, events, running


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
    page.clock.install(time=0)
    page.clock.pause_at(1_000)  # no time passes but what is asked for, however slow the machine is
    Mounted(page, running(220))
    hint = page.get_by_role("status").last
    page.clock.run_for(14_000)
    expect(hint).to_have_text("")
    page.clock.run_for(3_000)
    expect(hint).to_contain_text("No message from the kernel for 1")
    page.get_by_role("button", name="Stop (keep checkpoint)").click()
    page.clock.run_for(4_000)
    expect(hint).to_contain_text("Interrupt the cell to stop the run.")


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
            config.textContent = JSON.stringify({serverRoot: "/srv/notebooks"});
            document.head.append(config);
        }"""
    )
    Mounted(page, running(220), Subject("/srv/notebooks/a b/script.py"))
    link = page.get_by_role("link", name="/srv/notebooks/a b/script.py")
    expect(link).to_have_attribute("data-commandlinker-command", "docmanager:open")
    expect(link).to_have_attribute("data-commandlinker-args", '{"path":"a b/script.py"}')


def test_a_finding_links_to_its_page_and_to_nothing_that_runs(page, monkeypatch):
    """What is drawn may come from a notebook that somebody else has saved."""
    Mounted(page, running(10), Subject("x.py", (WARNING,)))
    link = page.locator(".nd-notices a")
    expect(link).to_have_attribute("href", page_of(WARNING.rule))
    monkeypatch.setattr("nbddp.widget.notices.page_of", lambda _: "javascript:alert(1)")
    Mounted(page, running(10), Subject("x.py", (WARNING,)))
    expect(page.locator(".nd-notices li").first).to_contain_text("val_loader")
    assert page.locator('a[href^="javascript"]').count() == 0


def test_what_trackers_have_printed_is_linked(page):
    """As text of the tracker, in a tab of its own; an address that would run code is none."""
    said = ("wandb: View run at https://wandb.ai/me/x", "🏃 View run fox at: http://host:5000/#/experiments/0/runs/9")
    lines = [{"event": "line", "rank": 0, "time": None, "text": text} for text in said]
    state = fold_all(running(30), lines)
    Mounted(page, replace(state, links={**state.links, "javascript:alert(1)": "mlflow"}), Subject(scalars="/runs/1"))
    links = page.locator(".nd-links a")
    expect(links).to_have_text(["wandb", "mlflow"])
    expect(links.first).to_have_attribute("href", "https://wandb.ai/me/x")
    expect(links.first).to_have_attribute("rel", "noopener noreferrer")
    button = page.get_by_role("button", name="Copy TensorBoard command")
    expect(button).to_have_attribute("title", "tensorboard --logdir /runs/1")


def test_samples_a_second_and_the_gpus(page, screenshot):
    steps = [{**event, "samples": 16} if event["event"] == "step" else event for event in events(200)]
    looks = [
        {"event": "gpus", "time": START + n, "gpus": {str(r): {"used": n << 30, "busy": 90 * r} for r in (0, 1)}}
        for n in range(1, 5)
    ]
    state = fold_all(RunState(), [*steps, *looks])
    mounted = Mounted(page, running(0))
    mounted.show(state)
    expect(page.get_by_text("50 steps/s · 1,600 samples/s")).to_be_visible()
    expect(page.get_by_role("tab").nth(1)).to_contain_text("800 samples/s")
    for width in (1400, 900, 600):
        page.set_viewport_size({"width": width, "height": 900})
        for rest in page.locator(".nd-bar > :last-child").all():
            assert rest.evaluate("element => element.scrollWidth <= element.clientWidth")
            assert rest.evaluate("element => element.getBoundingClientRect().right") <= width
        screenshot(page, f"page-gpus-{width}")
    use = page.locator("figure", has_text="GPU use")
    expect(use.locator("figcaption")).to_have_text(re.compile(r"GPU use, % \(rank 0\) 0.*GPU use, % \(rank 1\) 90"))
    mounted.show(ended(state))
    expect(page.get_by_text(re.compile("⌀ 3.37 steps/s · 108 samples/s"))).to_be_visible()
