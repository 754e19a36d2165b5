"""A real kernel that gets its cells as JupyterLab sends them: with the cell's tags and its id."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parents[2]


@dataclass
class Reply:
    """What came of one cell."""

    status: str
    text: str = ""  # what it printed
    result: str = ""
    error: str = ""  # its traceback as the user sees it
    displays: list[dict[str, Any]] = field(default_factory=list)
    updates: list[dict[str, Any]] = field(default_factory=list)


class Kernel:
    """Starts in a folder of its own; `around` are words that its command comes after, as on another machine."""

    def __init__(
        self, folder: Path, around: Sequence[str] = (), python: str = sys.executable, **environment: str
    ) -> None:
        import os

        self.manager = KernelManager(kernel_name="python3")
        if around:  # which may have a network of its own; a socket in a file has a short name
            self.manager.transport = "ipc"
            self.manager.connection_file = str(Path(mkdtemp(prefix="nbddp-")) / "k.json")
        spec = self.manager.kernel_spec
        assert spec is not None, "there is a kernel of Python"
        spec.argv = [*around, python, *spec.argv[1:]]
        env = {**os.environ, "PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", **environment}
        self.manager.start_kernel(cwd=str(folder), env=env)
        self.client: BlockingKernelClient = self.manager.client()  # type: ignore[assignment]
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def send(self, source: str, cell: str | None = None, tags: tuple[str, ...] = (), *, silent: bool = False) -> str:
        """Ask for an execution; its number comes back."""
        content = {
            "code": source,
            "silent": silent,
            "store_history": not silent,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": True,
        }
        message = self.client.session.msg("execute_request", content)
        message["metadata"] = {"tags": list(tags), **({"cellId": cell} if cell else {})}
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def result(self, asked: str, timeout: float = 60.0) -> Reply:
        """All that comes of it, until the kernel says that it is idle again."""
        reply = Reply("")
        until = time.monotonic() + timeout
        while True:
            message = self.client.get_iopub_msg(timeout=max(0.1, until - time.monotonic()))
            if message["parent_header"].get("msg_id") != asked:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            _add(reply, message["msg_type"], message["content"])
        while True:
            answer = self.client.get_shell_msg(timeout=max(0.1, until - time.monotonic()))
            if answer["parent_header"].get("msg_id") == asked:
                reply.status = answer["content"]["status"]
                return reply

    def run(self, source: str, cell: str | None = None, tags: tuple[str, ...] = (), timeout: float = 60.0) -> Reply:
        """Execute a cell."""
        return self.result(self.send(source, cell, tags), timeout)

    def aside(self, source: str) -> str:
        """What it prints, executed as front ends do for themselves: no cell of the notebook; fails where it fails."""
        reply = self.result(self.send(source, silent=True))
        assert reply.status == "ok", reply.error
        return reply.text.strip()

    def value(self, expression: str) -> str:
        """What an expression prints as."""
        return self.aside(f"print({expression})")

    def interrupt(self) -> None:
        """SIGINT, as the front end's button sends it."""
        self.manager.interrupt_kernel()

    def end(self) -> None:
        """Nothing of it is left."""
        with contextlib.suppress(Exception):
            self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


def _add(reply: Reply, kind: str, content: dict[str, Any]) -> None:
    if kind == "stream":
        reply.text += content["text"]
    elif kind == "execute_result":
        reply.result = content["data"]["text/plain"]
    elif kind == "error":
        reply.error = "\n".join(content["traceback"])
    elif kind == "display_data":
        reply.displays.append(content["data"])
    elif kind == "update_display_data":
        reply.updates.append(content["data"])
