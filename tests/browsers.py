"""One browser for all tests that want one, and what else they share: they go to one process of the test run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
OPENED = pytest.StashKey[ExitStack]()
BROWSER = pytest.StashKey["Browser"]()
SHARED = {"browser": "browser", "lab": "browser", "installed": "browser", "server": "server", "shared": "kernel"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What is started once for all is started by one process alone; what needs the built extension is thorough."""
    for item in items:
        names = getattr(item, "fixturenames", ())
        groups = {group for name, group in SHARED.items() if name in names}
        if groups and not any(item.iter_markers("xdist_group")):
            item.add_marker(pytest.mark.xdist_group("_".join(sorted(groups))))
        if "installed" in names:
            item.add_marker(pytest.mark.thorough)


@pytest.fixture
def browser(request: pytest.FixtureRequest) -> Browser:
    """Playwright keeps an event loop in this thread, which others would trip over: see `pytest_runtest_teardown`."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    stash = request.config.stash
    if BROWSER not in stash:
        from playwright.sync_api import expect, sync_playwright

        expect.set_options(timeout=20_000)
        stash[OPENED] = ExitStack()
        playwright = stash[OPENED].enter_context(sync_playwright())
        stash[BROWSER] = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        stash[OPENED].callback(stash[BROWSER].close)
    return stash[BROWSER]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """It goes behind the last of the tests in a row that want it."""
    try:
        yield
    finally:
        if OPENED in item.config.stash and "browser" not in getattr(nextitem, "fixturenames", ()):
            del item.config.stash[BROWSER]
            opened = item.config.stash[OPENED]
            del item.config.stash[OPENED]
            opened.close()
