"""What is asked of a dashboard, and what comes of its answers; the server here says what Ray's own does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from nbddp.run.engines.known import JobFacts, Known
from nbddp.run.engines.ray.dashboard import ADDRESS, address_of, ask, call, cancel

JOBS = {
    "a": (200, {"status": "RUNNING", "message": "Job is currently running."}),
    "b": (200, {"status": "FAILED", "message": "Job entrypoint command failed with exit code 1"}),
    "c": (200, {"status": "STOPPED"}),
    "d": (500, "Traceback (most recent call last):\nRuntimeError: no room\n"),
    "e": (200, "this is no JSON"),
}


class Dashboard(BaseHTTPRequestHandler):
    asked: list[tuple[str, str, str | None]] = []  # noqa: RUF012 -- of all requests

    def answer(self) -> None:
        self.asked.append((self.command, self.path, self.headers["Authorization"]))
        name = self.path.removesuffix("/stop").rpartition("/")[2]
        status, content = JOBS.get(name, (404, "Job does not exist"))
        body = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(monkeypatch, tmp_path) -> Iterator[str]:
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "none"))
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    Dashboard.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Dashboard) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("a", Known(JobFacts("RUNNING"))),
        ("b", Known(JobFacts("FAILED", "Job entrypoint command failed with exit code 1"))),
        ("c", Known(JobFacts("CANCELLED"))),
        ("d", Known(silent=True)),
        ("e", Known(silent=True)),
        ("f", Known(forgotten=True)),
    ],
)
def test_how_a_job_stands(address, name, known):
    assert ask({"address": address, "number": name}) == known


def test_where_nobody_answers_it_is_silent(address):
    reply = call("http://127.0.0.1:1", "/api/version")
    assert reply.status == 0
    assert "refused" in reply.why
    assert ask({"address": "http://127.0.0.1:1", "number": "a"}) == Known(silent=True)
    assert ask({"address": "nonsense", "number": "a"}) == Known(silent=True)


def test_a_traceback_is_said_by_its_last_line(address):
    assert call(address, "/api/jobs/d").why == "RuntimeError: no room"


def test_a_stop_and_the_token_of_the_cluster(address, monkeypatch):
    cancel({"address": address, "number": "a"})
    monkeypatch.setenv("RAY_AUTH_TOKEN", "secret")
    cancel({"address": address, "number": "a"})
    assert Dashboard.asked == [("POST", "/api/jobs/a/stop", None), ("POST", "/api/jobs/a/stop", "Bearer secret")]


@pytest.mark.parametrize(
    ("asked", "environ", "found"),
    [
        ("", {}, "http://127.0.0.1:8265"),
        ("", {"RAY_ADDRESS": "auto"}, "http://127.0.0.1:8265"),
        ("", {"RAY_ADDRESS": "ray://head:10001"}, "http://127.0.0.1:8265"),
        ("", {"RAY_API_SERVER_ADDRESS": "http://head:8265", "RAY_ADDRESS": "x"}, "http://head:8265"),
        ("head:1", {"RAY_ADDRESS": "x"}, "http://head:1"),
        ("https://head/ray/", {}, "https://head/ray"),
    ],
)
def test_where_the_dashboard_is(asked, environ, found):
    assert address_of(asked, environ) == found
    assert ADDRESS.fullmatch(found)
    assert not ADDRESS.fullmatch("file:///etc/passwd")
