"""Runs titled, noted and deleted over the routes: by whom, where, and what is refused."""

from __future__ import annotations

import json
import os
import platform
import time
from urllib.parse import quote

import pytest

from nbddp.run.folder.about import About, describe, read_about
from nbddp.run.folder.folders import create
from nbddp.run.processes.process import identify


@pytest.fixture
def run(server):
    """One that was never started, long ago."""
    made = create(server.root, "kept")
    os.utime(made.path, (time.time() - 1000,) * 2)
    return made


def asked(run) -> str:
    return f"run?folder=&name={run.name}"


def test_a_title_and_a_note_are_kept_and_shown(server, run):
    said = server.ask("run", {"folder": "", "name": run.name, "title": "larger batches"}, method="PATCH")
    assert (said.status, said.body) == (200, {"title": "larger batches", "note": ""})
    said = server.ask("run", {"folder": "", "name": run.name, "note": "again"}, method="PATCH")
    rows = {row["name"]: row for row in server.ask("runs?folder=").body["runs"]}
    assert (rows[run.name]["title"], rows[run.name]["note"]) == ("larger batches", "again")
    assert read_about(run) == About("larger batches", "again")


@pytest.mark.parametrize("body", [{}, {"folder": ""}, {"folder": "", "name": "x", "title": 3}, []])
def test_what_is_no_description_is_refused(server, body):
    assert server.ask("run", body, method="PATCH").status == 400


def test_a_run_is_deleted_and_one_that_goes_on_is_not(server, run):
    run.supervisor.write_text(
        json.dumps({**identify(os.getpid()).as_json(), "host": "another machine", "boot": "its own"})
    )
    refused = server.ask(asked(run), method="DELETE")
    assert (refused.status, run.path.is_dir()) == (409, True)
    assert refused.body["message"].startswith(f"The run {run.name} still runs")
    run.supervisor.write_text(json.dumps({**identify(os.getpid()).as_json(), "host": platform.node()}))
    assert server.ask(asked(run), method="DELETE").status == 204  # this process has no token of the run
    assert not run.path.exists()
    assert server.ask(asked(run), method="DELETE").status == 404


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_nobody_else_changes_a_run(server, run, method):
    """Without a token; and a page of another site, whose form a browser sends with the cookie of this one."""
    body = {"folder": "", "name": run.name, "title": "stolen"}
    assert server.ask(asked(run), body, method=method, token="").status == 403
    login = server.ask(f"version?token={server.token}", token="")
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in login.cookies.items())
    refused = server.ask(asked(run), body, method=method, token="", headers={"Cookie": cookie})
    assert (refused.status, "_xsrf" in refused.body["message"]) == (403, True)
    assert run.path.is_dir()
    assert read_about(run) == About()


@pytest.mark.parametrize("name", ["..", "../..", ".", "", "a" * 5000, "no\0name"])
def test_nothing_but_a_run_is_changed(server, run, name):
    describe(run, title="mine")
    assert server.ask(f"run?folder=&name={quote(name, safe='')}", method="DELETE").status == 404
    assert server.ask("run", {"folder": "", "name": name, "title": "x"}, method="PATCH").status == 404
    assert read_about(run).title == "mine"


def test_no_run_outside_of_the_root_is_changed(server, tmp_path):
    outside = create(tmp_path, "outside")
    os.utime(outside.path, (time.time() - 1000,) * 2)
    (server.root / "away").mkdir()
    (server.root / "away" / ".nbddp").symlink_to(tmp_path / ".nbddp")
    (server.root / ".nbddp" / "runs").mkdir(parents=True, exist_ok=True)
    (server.root / ".nbddp" / "runs" / "linked").symlink_to(outside.path)
    for folder, name in (("away", outside.name), (str(tmp_path), outside.name), ("", "linked")):
        assert server.ask(f"run?folder={quote(folder, safe='')}&name={name}", method="DELETE").status == 404
        assert server.ask("run", {"folder": folder, "name": name, "title": "x"}, method="PATCH").status == 404
    assert outside.path.is_dir()
    assert read_about(outside) == About()
