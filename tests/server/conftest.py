"""A real Jupyter server with the extension, on a free port, that knows nothing of the user's own settings."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

ROOT = Path(__file__).parents[2]
DIRECTORIES = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    cookies: SimpleCookie


@dataclass(frozen=True)
class Server:
    host: str
    port: int
    token: str
    root: Path

    def ask(
        self,
        path: str,
        body: object = None,
        *,
        method: str = "",
        token: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """GET, or POST where there is a body and no other method; bytes, and pieces of bytes, are sent as they are."""
        token = self.token if token is None else token
        headers = {**({"Authorization": f"token {token}"} if token else {}), **(headers or {})}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        raw = body if body is None or isinstance(body, bytes | Iterator) else json.dumps(body).encode()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has answered before it had read all
            connection.request(method or ("GET" if body is None else "POST"), f"/nbddp/api/{path}", raw, headers)
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        cookies = SimpleCookie()
        for value in reply.headers.get_all("Set-Cookie", []):
            cookies.load(value)
        try:
            return Answer(reply.status, json.loads(text), cookies)
        except ValueError:
            return Answer(reply.status, text, cookies)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home, root = tmp_path_factory.mktemp("jupyter"), tmp_path_factory.mktemp("notebooks")
    environment = os.environ | {name: str(home / name.lower()) for name in DIRECTORIES} | {"PYTHONPATH": str(ROOT)}
    environment.pop("JUPYTER_TOKEN", None)
    command = [sys.executable, "-m", "jupyter_server", "--port=0", "--ip=127.0.0.1", "--allow-root", "--no-browser"]
    command += [f"--ServerApp.root_dir={root}", "--ServerApp.jpserver_extensions=nbddp.server=True"]
    log = home / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=environment, stderr=file, cwd=root)
        try:
            info = _info(home / "jupyter_runtime_dir", process, log)
            yield Server(urlsplit(info["url"]).hostname or "", info["port"], info["token"], root)
        finally:
            family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
            process.terminate()
            _, left = psutil.wait_procs(family, timeout=20)
            for one in left:
                one.kill()
            process.wait()


def _info(runtime: Path, process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            try:
                info: dict[str, Any] = json.loads(path.read_text())
            except ValueError:  # still being written
                continue
            if info["port"] and _listens(info["port"]):
                return info
        threading.Event().wait(0.05)
    raise AssertionError(log.read_text())


def _listens(port: int) -> bool:
    """The file that names the port may be there before anybody listens."""
    with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False
