"""What is said to a Ray cluster: the job API of its dashboard, over plain HTTP."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from nbddp.run.engines.known import JobFacts, Known

HERE = "127.0.0.1:8265"
WITHIN = 20.0  # seconds
ADDRESS = re.compile(
    r"(?:https?://)?[A-Za-z0-9._-]+(?::[0-9]{1,5})?(?:/[A-Za-z0-9._/-]*)?|https?://\[[0-9a-fA-F:]+\](?::[0-9]+)?/?"
)
STATES = {"PENDING": "PENDING", "RUNNING": "RUNNING", "SUCCEEDED": "COMPLETED", "STOPPED": "CANCELLED"}


@dataclass(frozen=True)
class Reply:
    """`status` is that of HTTP; 0 where nobody has answered, and then `why` says it."""

    status: int
    content: Mapping[str, Any]
    why: str = ""


def address_of(asked: str, environ: Mapping[str, str] = os.environ) -> str:
    """As a URL: the one that was asked for, else that of Ray's own variables, else a cluster on this machine."""
    found = asked or environ.get("RAY_API_SERVER_ADDRESS") or environ.get("RAY_ADDRESS", "")
    found = HERE if found in {"", "auto", "local"} or found.startswith("ray://") else found
    return (found if "://" in found else f"http://{found}").rstrip("/")


def call(address: str, path: str, body: Mapping[str, Any] | None = None, method: str = "") -> Reply:
    """One request. What comes back may be anything: no more is taken of it than is looked for."""
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": "application/json", **_token()}
    try:
        request = Request(address + path, data, headers, method=method or ("POST" if data else "GET"))
        with urlopen(request, timeout=WITHIN) as reply:
            return Reply(reply.status, _read(reply.read(1 << 22)))
    except HTTPError as error:
        with error:
            return Reply(error.code, {}, _last_line(error.read(1 << 16)))
    except (URLError, OSError, ValueError) as error:
        return Reply(0, {}, str(getattr(error, "reason", error)))


def ask(job: Mapping[str, Any]) -> Known:
    reply = call(str(job.get("address")), f"/api/jobs/{job['number']}")
    if reply.status == 200 and (state := str(reply.content.get("status", ""))):
        message = str(reply.content.get("message") or "")
        return Known(JobFacts(STATES.get(state, state), "" if state == "RUNNING" else message))
    return Known(forgotten=True) if reply.status == 404 else Known(silent=True)


def cancel(job: Mapping[str, Any]) -> None:
    call(str(job.get("address")), f"/api/jobs/{job['number']}/stop", {})


def _read(text: bytes) -> Mapping[str, Any]:
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _last_line(text: bytes) -> str:
    """Of a traceback, which is what a dashboard answers where it cannot do something."""
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else ""


def _token() -> dict[str, str]:
    """Of a cluster that asks for one, where Ray's own commands find it."""
    token = os.environ.get("RAY_AUTH_TOKEN", "")
    file = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token")
    if not token and file.is_file():
        token = file.read_text(encoding="utf-8").strip()
    return {"Authorization": f"Bearer {token}"} if token else {}
