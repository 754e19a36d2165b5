"""A process that trains: its log, and why it fails."""

from __future__ import annotations

import json
import os
import socket
import sys
import warnings
from pathlib import Path

import pytest

from nbddp.run.watching import processes
from nbddp.run.watching.reports import Reports
from tests.script.parts.ranks import on_ranks


def speak_as(_: int, rank: int, logs: str) -> None:
    warnings.simplefilter("ignore", ResourceWarning)
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = open(2, "w", closefd=False)  # noqa: SIM115
    processes.begin(Reports(os.devnull), rank, logs)
    print(f"printed by {rank}")
    print(f"a bar of {rank}", file=sys.stderr, flush=True)
    os.write(2, f"the system's word on {rank}\n".encode())


def test_each_has_a_log_of_its_own(tmp_path):
    for rank in (0, 1):
        on_ranks(1, speak_as, rank, str(tmp_path))
        lines = (tmp_path / f"rank{rank}.log").read_text().splitlines()
        assert lines == [f"printed by {rank}", f"a bar of {rank}", f"the system's word on {rank}"]
        assert (tmp_path / f"rank{rank}.log").stat().st_mode & 0o77 == 0


def test_who_listens_is_seen_without_a_connection():
    with socket.socket() as first:
        first.bind(("127.0.0.1", 0))
        port = first.getsockname()[1]
        assert not processes.listened_to(port)
        first.listen()
        assert processes.listened_to(port)
        first.settimeout(0)
        with pytest.raises(BlockingIOError):
            first.accept()
        with socket.create_connection(("127.0.0.1", port)) as other, first.accept()[0]:
            first.close()
            assert not processes.listened_to(port)
            assert not processes.listened_to(other.getsockname()[1])


def test_who_listens_for_both_families_is_seen():
    with socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as both:
        assert processes.listened_to(both.getsockname()[1])


def test_nobody_waits_where_the_system_cannot_be_asked(monkeypatch):
    monkeypatch.delattr(socket, "AF_NETLINK")
    assert processes.listened_to(1)


@pytest.mark.parametrize(
    ("error", "victim"),
    [
        (ValueError("bad value"), False),
        (RuntimeError("[gloo/pair.cc:553] Connection closed by peer [127.0.0.1]:7074. This is typical"), True),
        (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), False),
        (ConnectionResetError("Connection reset by peer"), False),
        (SystemExit("no"), None),
    ],
)
def test_an_error_is_told_with_who_is_to_blame(error, victim, tmp_path, monkeypatch):
    waited: list[float] = []
    monkeypatch.setattr(processes.time, "sleep", waited.append)
    reports = Reports(str(tmp_path / "events"))
    reports.rank = 1
    try:
        raise error
    except BaseException as raised:  # noqa: BLE001
        processes.failed(reports, raised)
    event = json.loads(Path(tmp_path / "events").read_text())
    assert (event["event"], event["rank"], event["victim"]) == ("error", 1, bool(victim))
    assert (event["type"], event["message"]) == (type(error).__name__, str(error))
    assert event["traceback"][-1]["function"] == "test_an_error_is_told_with_who_is_to_blame"
    assert event["traceback"][-1]["file"] == __file__
    assert event["text"].startswith("Traceback")
    assert bool(waited) is (victim is not False)
