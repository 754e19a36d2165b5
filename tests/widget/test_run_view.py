"""From the folder of a run to what a feed shows of it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nbddp.run.folder.folder import RunFolder
from nbddp.run.state.fold import fold
from nbddp.widget.notices import notices
from nbddp.widget.run_view import TAIL, RunView, subject_of, watch
from tests.widget.runs import START, ended, running


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "1-digits")
    folder.logs.mkdir(parents=True)
    folder.script.write_text("import torch\nloss = f(x)\n")
    folder.line_map.write_text(json.dumps([{"script": 2, "cell": 7, "line": 3, "source": "loss = f(x)"}]))
    return folder


def run(folder: RunFolder, state: Any = None) -> Any:
    state = state or running()
    return SimpleNamespace(folder=folder, state=state, stop=print, watch=SimpleNamespace(look=lambda: state))


def test_the_tail_of_a_log_grows_with_it(folder):
    view = RunView(run(folder))
    assert view.log_tail(0) == ""
    folder.log(0).write_text("a\n")
    assert view.log_tail(0) == "a\n"
    folder.log(0).write_text("a\nhalf")
    assert view.log_tail(0) == "a\nhalf"
    assert view.log_tail(1) == ""


def test_a_long_log_is_read_from_its_end(folder):
    folder.log(0).write_bytes(
        b"x" * 99 + b"\n" + b"\xff 100 characters, with the newline, \xe2\x82\xac".ljust(99) + b"\n"
    )
    folder.log(0).write_bytes(folder.log(0).read_bytes() * 5000)
    tail = RunView(run(folder)).log_tail(0)
    assert TAIL - 200 < len(tail.encode()) < TAIL + 5000
    assert tail.startswith(("x" * 99 + "\n", "\ufffd 100"))


def test_a_log_that_did_not_grow_is_not_read_again(folder, monkeypatch):
    folder.log(0).write_text("a\n")
    view = RunView(run(folder))
    assert view.log_tail(0) == "a\n"
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("read again"))
    assert view.log_tail(0) == "a\n"


def test_what_was_read_stays_when_the_folder_goes(folder):
    folder.log(0).write_text("a\n")
    view = RunView(run(folder))
    view.log_tail(0)
    folder.log(0).unlink()
    assert view.log_tail(0) == "a\n"


def test_a_failure_is_told_in_cells_and_lines(folder):
    frame = {"file": str(folder.script), "line": 2, "function": "train"}
    error = {
        "event": "error",
        "rank": 1,
        "time": START + 5,
        "type": "ValueError",
        "message": "sizes",
        "traceback": [frame],
    }
    state = ended(fold(running(100), error), 1)
    said = notices(state, subject_of(folder))[0]
    assert said["more"] == "  cell 7, line 3, in train\n    loss = f(x)\nValueError: sizes"


def test_so_is_where_a_silent_rank_waits(folder):
    stacks = {"0": f'File "{folder.script}", line 2 in train'}
    state = fold(running(), {"event": "hang", "rank": None, "time": START + 9, "quiet": 30, "stacks": stacks})
    assert notices(state, subject_of(folder))[0]["more"] == "rank 0\ncell 7, line 3 in train"


def test_a_traceback_without_lines_of_the_notebook_stays_as_it_is(folder):
    state = fold(running(), {"event": "died", "rank": 1, "time": START, "signal": "SIGKILL"})
    assert subject_of(folder).explain(state) == ""
    assert subject_of(folder).explain(running()) == ""


def test_watching_a_run_to_its_end(folder, capsys):
    feed = watch(run(folder, ended(running(300))))
    assert feed.join(10)
    assert "digits · Done · epoch 10 of 10" in capsys.readouterr().out
