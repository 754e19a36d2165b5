"""The routes on a real server: who may ask, what is refused, and what never leaves the server's folder."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from nbddp.run.folder.folders import create
from nbddp.run.processes.process import identify
from tests.server.notebooks import CELLS, TRAIN, question

ROUTES = [("version", None), ("runs", None), ("export", question()), ("check", question()), ("run/stop", {})]


@pytest.mark.parametrize(("path", "body"), ROUTES, ids=[path for path, _ in ROUTES])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "token wrong"}], ids=["no token", "a wrong token"])
def test_who_has_no_token_gets_no_answer(server, path, body, headers):
    assert server.ask(path, body, token="", headers=headers).status == 403


def test_a_page_of_another_site_cannot_ask_with_the_cookie_of_this_one(server):
    """A browser that has logged in sends its cookie with a form of any site; what it cannot send is the other half."""
    login = server.ask(f"version?token={server.token}", token="")
    assert login.status == 200
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in login.cookies.items())
    assert server.ask("version", token="", headers={"Cookie": cookie}).status == 200
    refused = server.ask("export", question(), token="", headers={"Cookie": cookie})
    assert refused.status == 403
    assert "_xsrf" in refused.body["message"]
    page = {"Cookie": f"{cookie}; _xsrf=2|1|1|1", "X-XSRFToken": "2|1|1|1"}
    assert server.ask("export", question(), token="", headers=page).status == 403


def test_an_export(server):
    before = set(server.root.rglob("*"))
    said = server.ask("export", question())
    assert said.status == 200
    assert said.body["exported"]
    assert set(server.root.rglob("*")) == before  # nothing is written


def test_modules_beside_the_notebook_are_read(server):
    folder = server.root / "beside"
    folder.mkdir()
    (folder / "saving.py").write_text("import torch\n\n\ndef save(net):\n    torch.save(net.state_dict(), 'n.pt')\n")
    asked = question("from saving import save", *CELLS[:3], f"{TRAIN}\nsave(model)")
    for place, is_copied in (("beside", True), ("elsewhere", False), ("../beside", False)):
        said = server.ask("export", {**asked, "folder": place})
        assert said.status == 200
        assert ("def save(" in said.body["script"]) is is_copied
        assert ("saving.py" in [one["file"] for one in said.body["diagnostics"]]) is is_copied
    assert server.ask("check", {**asked, "folder": "beside"}).body["cells"][0]["role"] == "kept"


@pytest.mark.parametrize("what", ["export", "check"])
def test_a_training_cell_that_is_still_empty_is_an_answer(server, what):
    said = server.ask(what, question(TRAIN, "%%ddp_train"))
    assert said.status == 200
    assert [one["message"].split(":")[0] for one in said.body["diagnostics"]] == ["the training cell is empty"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"3", b"null"])
def test_a_body_that_is_no_notebook_is_refused_with_a_sentence(server, body):
    said = server.ask("export", body)
    assert said.status == 400
    assert said.body["message"].startswith("The body ")


def test_a_notebook_that_is_none_is_refused_with_a_sentence(server):
    said = server.ask("export", {"notebook": {"cells": "none"}})
    assert (said.status, said.body["message"][-1]) == (400, ".")


def test_fifty_megabytes_are_refused(server):
    said = server.ask("export", b'{"notebook": "' + b"x" * 50_000_000 + b'"}')
    assert (said.status, said.body["message"]) == (413, "The notebook is larger than 16 MiB without its outputs.")


def test_so_are_they_when_their_number_is_not_told(server):
    pieces = itertools.repeat(b"x" * 1_000_000, 50)
    assert server.ask("export", pieces).status == 413


def test_a_notebook_without_end_is_given_up_and_the_next_one_is_answered(server):
    """So deep that Python's own parser gives up, or ends: the process that reads it is not the server."""
    deep = question(TRAIN, "x = " + "-" * 3_000_000 + "1")
    said = server.ask("check", deep)
    assert said.status in {200, 400, 422}
    assert server.ask("export", question()).body["exported"]


@pytest.mark.parametrize("folder", ["..", "a/../..", "/etc", "../" * 20 + "etc", "link", "a\0b", "loop"])
def test_no_folder_but_those_of_the_server(server, tmp_path, folder):
    outside = create(tmp_path, "secret")
    outside.script.write_text("secret")
    for name, target in (("link", tmp_path), ("loop", server.root / "loop")):
        if not (server.root / name).is_symlink():
            (server.root / name).symlink_to(target)
    asked = f"folder={quote(folder, safe='')}&name={outside.name}"
    assert server.ask(f"runs?folder={quote(folder, safe='')}").body == {"runs": []}
    assert server.ask(f"run?{asked}").status == 404
    assert server.ask(f"run/text?{asked}&what=script").status == 404
    body = {"folder": folder, "name": outside.name, "grade": "kill"}
    assert server.ask("run/stop", body).status == 404


def test_no_file_but_those_of_a_run(server):
    run = create(server.root, "digits")
    run.script.write_text("print('digits')\n")
    run.log(1).write_text("epoch 1\n")
    (server.root / "digits.ipynb").write_text("{}")

    def text(name: str, what: str) -> tuple[int, object]:
        said = server.ask(f"run/text?folder=&name={quote(name, safe='')}&what={quote(what, safe='')}")
        return said.status, said.body.get("text")

    assert text(run.name, "script") == (200, "print('digits')\n")
    assert text(run.name, "1") == (200, "epoch 1\n")
    assert text(run.name, "7")[0] == 404
    assert text(run.name, "7" * 9000)[0] == 404
    assert text(run.name, "../command.json")[0] == 404
    assert text("../..", "script")[0] == 404
    assert text("", "script")[0] == 404


@pytest.mark.parametrize("kind", ["link", "linked folder", "pipe", "device"])
def test_no_file_that_a_run_only_points_to(server, tmp_path, kind):
    run = create(server.root, "pointing")
    for path in (run.log(0), run.script):
        (tmp_path / path.name).write_text("secret")
        path.unlink(missing_ok=True)
        target = tmp_path / path.name if kind != "device" else Path("/dev/zero")
        os.mkfifo(path) if kind == "pipe" else path.symlink_to(target)
    if kind == "linked folder":
        run.logs.rename(tmp_path / "logs")
        run.logs.symlink_to(tmp_path)
    asked = f"folder=&name={run.name}"
    assert server.ask(f"run/text?{asked}&what=script").status == 404
    assert server.ask(f"run/text?{asked}&what=0").body.get("text", "") == ""
    assert "secret" not in json.dumps(server.ask(f"run?{asked}").body)
    assert any(row["name"] == run.name for row in server.ask("runs?folder=").body["runs"])


@pytest.mark.parametrize("length", [300, 5_000])
def test_a_name_that_is_too_long_is_that_of_no_folder(server, length):
    assert server.ask(f"runs?folder={'a' * length}").body == {"runs": []}
    assert server.ask(f"run?folder={'a' * length}&name=x").status == 404
    assert server.ask("run/stop", {"folder": "", "name": "a" * length, "grade": "kill"}).status == 404


def test_a_process_that_is_none_of_the_runs_is_not_ended(server):
    run = create(server.root, "forged")
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        run.supervisor.write_text(json.dumps(identify(other.pid).as_json()))
        said = server.ask("run/stop", {"folder": "", "name": run.name, "grade": "kill"})
        assert (said.status, said.body) == (200, {"left": []})
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_log_is_read_on_from_where_a_page_has_come_to(server):
    run = create(server.root, "digits")
    run.events.write_text('{"event": "launch", "time": 1.0, "nproc": 2}\n{"event": "exit", "time": 9.0, "status": 0}\n')
    run.log(1).write_text("epoch 1\nepoch 2\n")
    asked = f"run/text?folder=&name={run.name}&what=1"
    assert server.ask(asked).body == {
        "text": "epoch 1\nepoch 2\n",
        "start": 0,
        "end": 16,
        "over": True,
        "ranks": [0, 1],
    }
    assert server.ask(f"{asked}&start=8").body["text"] == "epoch 2\n"
    assert server.ask(f"{asked}&start=-8").status == 400


def test_the_runs_of_a_folder(server):
    folder = server.root / "a folder"
    folder.mkdir()
    run = create(folder, "digits")
    rows = server.ask(f"runs?folder={quote('a folder')}&folder=nowhere").body["runs"]
    assert [(row["folder"], row["name"], row["phase"]) for row in rows] == [("a folder", run.name, "starting")]
    shown = server.ask(f"run?folder={quote('a folder')}&name={run.name}").body
    assert (shown["name"], shown["phase"], set(shown["logs"])) == (run.name, "starting", {"0"})
    assert server.ask("run/stop", {"folder": "a folder", "name": run.name, "grade": "now"}).body == {"left": []}
    assert server.ask("run/stop", {"folder": "a folder", "name": run.name, "grade": "gently"}).status == 400


def test_a_link_inside_of_the_root_is_followed(server):
    real = server.root / "real"
    real.mkdir()
    run = create(real, "digits")
    (server.root / "shortcut").symlink_to(real)
    assert [row["name"] for row in server.ask("runs?folder=shortcut").body["runs"]] == [run.name]


def test_runs_that_lie_elsewhere_are_not_shown(server, tmp_path):
    """The folder is below the root, but what it holds is a link that leads out."""
    create(tmp_path, "secret")
    folder = server.root / "borrowed"
    folder.mkdir()
    (folder / ".nbddp").symlink_to(tmp_path / ".nbddp")
    assert server.ask("runs?folder=borrowed").body == {"runs": []}
    assert (folder / ".nbddp" / "runs").is_dir()
