"""The page's side of the widget, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import comm
import pytest
from playwright.sync_api import Browser, Page

from nbddp.widget.live import RunWidget
from tests.widget.page.mounted import ORIGIN, Mounted
from tests.widget.runs import running
from tests.widget.sent import Recorded


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
