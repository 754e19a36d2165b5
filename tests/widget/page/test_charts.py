"""The charts: values by pointer and keys, scales, order, the numbers as a table."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from nbddp.widget.subject import Subject
from nbddp.widget.view import snapshot
from tests.widget.runs import failed, running


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
