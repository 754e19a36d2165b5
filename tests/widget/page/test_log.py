"""The log of a rank: text that stays text, in its colours, read in peace."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from nbddp.widget.terminal import last_lines
from tests.widget.page.mounted import Mounted
from tests.widget.runs import running


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
