"""A real JupyterLab that knows nothing of the user's own settings.

Screenshots to look at are left in the folder that SCREENSHOTS names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
DIRECTORIES = (
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "JUPYTERLAB_SETTINGS_DIR",
    "JUPYTERLAB_WORKSPACES_DIR",
    "IPYTHONDIR",
)
NOTIFICATIONS = "@jupyterlab/apputils-extension/notification.jupyterlab-settings"


@pytest.fixture
def screenshot() -> Callable[[Page, str], None]:
    folder = os.environ.get("SCREENSHOTS")

    def take(page: Page, name: str) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png")

    return take


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Its address, token included, and the folder of its notebooks."""
    home, root = tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("notebooks")
    environment = os.environ | {name: str(home / name.lower()) for name in DIRECTORIES} | {"PYTHONPATH": str(ROOT)}
    settings = home / "jupyterlab_settings_dir" / NOTIFICATIONS
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}))
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--port=0", "--ip=127.0.0.1", "--allow-root"]
    command.append("--LabApp.expose_app_in_browser=True")
    log = (home / "log").open("wb")
    server = subprocess.Popen(
        [*command, f"--ServerApp.root_dir={root}"], env=environment, stderr=log, start_new_session=True
    )
    try:
        yield _address(home / "jupyter_runtime_dir", server, home / "log"), root
    finally:
        _end(server)
        log.close()


def _end(server: subprocess.Popen[bytes]) -> None:
    """It ends its kernels first; one that was about to start may keep it for ever."""
    family = [psutil.Process(server.pid), *psutil.Process(server.pid).children(recursive=True)]
    server.terminate()
    _, left = psutil.wait_procs(family, timeout=20)
    for process in left:
        process.kill()
    psutil.wait_procs(left, timeout=20)
    server.wait()


def _address(runtime: Path, server: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            info = _info(path)
            if info and info["port"]:
                return f"{info['url']}doc/tree/{{name}}?token={info['token']}"
        threading.Event().wait(0.05)
    raise AssertionError(log.read_text())


def _info(path: Path) -> dict[str, Any] | None:
    try:
        info: dict[str, Any] = json.loads(path.read_text())
    except ValueError:  # still being written
        return None
    return info
