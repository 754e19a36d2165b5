"""A real JupyterLab, and a real Notebook 7, with the wheel installed; a real browser."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.lab.installed import Installed, install
from tests.lab.page import Lab
from tests.widget.conftest import NOTIFICATIONS, _address, _end, screenshot

TIMEOUT = int(os.environ.get("NBDDP_TEST_PATIENCE", "60")) * 1000  # milliseconds that a page may take over anything

__all__ = ["screenshot"]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="session")
def lab(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a notebook in a workspace of its own, and the folder of the notebooks."""
    yield from serve(installed, tmp_path_factory, "jupyterlab", "--LabApp.expose_app_in_browser=True")


@pytest.fixture(scope="session")
def notebook7(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    yield from serve(installed, tmp_path_factory, "notebook", "--JupyterNotebookApp.expose_app_in_browser=True")


@pytest.fixture
def page(browser: Browser, lab: tuple[str, Path]) -> Iterator[Lab]:
    yield from visit(browser, *lab)


def visit(browser: Browser, address: str, root: Path, *expected: str) -> Iterator[Lab]:
    """Whatever a page complains of in its console is a failure of the test, but for what it does without us as well."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page: Page = context.new_page()
    page.set_default_timeout(TIMEOUT)
    expect.set_options(timeout=TIMEOUT)
    opened = Lab(page, address, root)
    yield opened
    context.close()
    unexpected = [one for one in opened.complaints if one not in expected]
    assert not unexpected, "\n".join(unexpected)


def serve(
    installed: Installed,
    tmp_path_factory: pytest.TempPathFactory,
    app: str,
    *options: str,
    settings: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, Path]]:
    home, root = tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("notebooks")
    quiet = {NOTIFICATIONS: {"fetchNews": "false", "checkForUpdates": False}}
    for name, values in {**quiet, **(settings or {})}.items():
        path = home / "jupyterlab_settings_dir" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))
    command = [str(installed.python), "-m", app, "--no-browser", "--port=0", "--ip=127.0.0.1", "--allow-root", *options]
    command.append(f"--ServerApp.root_dir={root}")
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(
            command,
            env={**installed.environment(home), **(environment or {})},
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=root,
        )
        try:
            address = _address(home / "jupyter_runtime_dir", server, home / "log")
            yield address.replace("doc/tree/", "lab/workspaces/{workspace}/tree/"), root
        finally:
            _end(server)


Screenshot = Callable[[Page, str], None]
