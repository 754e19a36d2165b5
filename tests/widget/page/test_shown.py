"""What the widget shows of a run: where it is, its failures, its ranks, its end."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from nbddp.run.state.fold import fold
from nbddp.run.state.state import RunState
from nbddp.widget.subject import Subject
from tests.widget.page.mounted import Mounted
from tests.widget.runs import WARNING, ended, events, failed, running


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


def test_the_clock_goes_on_between_updates_and_stands_at_the_end(page):
    page.clock.install()
    mounted = Mounted(page, running(220))
    seconds = r"(0[5-9]|1\d) · 2 ranks · warm start"  # a busy machine takes longer than one to look
    expect(page.get_by_text(re.compile(f"^0:{seconds}"))).to_be_visible()
    page.clock.run_for(60_000)
    expect(page.get_by_text(re.compile(f"^1:{seconds}"))).to_be_visible()
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
