"""What a person reads when a run fails: who, what, in which cell and line."""

import json

import pytest

from nbddp.run.folder.folders import create
from nbddp.run.folder.line_map import read_line_map
from nbddp.run.state.endings import is_victim
from nbddp.run.state.state import Exit, Failure, RunState, changed
from nbddp.run.supervision.causes import cause_of, memory_kills, name_of
from nbddp.run.supervision.culprit import RunFailed, failure_of, frames_of, last_lines

SOURCE = "loss = criterion(model(x), y)"


@pytest.fixture
def folder(tmp_path):
    folder = create(tmp_path, "digits")
    folder.script.write_text("import torch\n\n    loss = criterion(model(x), y)\n")
    folder.line_map.write_text(json.dumps([{"script": 3, "cell": 6, "line": 4, "source": SOURCE}]))
    return folder


def failed(folder, **fields):
    frames = (
        (str(folder.script), 9, "run_rank"),
        (str(folder.script), 3, "train"),
        ("/lib/torch/nn.py", 20, "forward"),
    )
    failure = Failure(rank=1, type="ValueError", message="bad label", time=5.0, frames=frames)
    return RunState(phase="failed", failures=(changed(failure, **fields),), exit=Exit(1))


def test_an_error_of_a_share_too_small_is_explained(folder):
    message = "Expected more than 1 value per channel when training, got input size torch.Size([1, 32])"
    failure = failure_of(folder, failed(folder, message=message))
    assert failure.cause.startswith("A rank got a single sample")
    assert failure.text.splitlines()[1] == failure.cause


def test_a_traceback_begins_at_the_users_own_lines_and_names_cells(folder):
    failure = failure_of(folder, failed(folder))
    assert (failure.rank, failure.type, failure.message) == (1, "ValueError", "bad label")
    assert [(frame.cell, frame.cell_line, frame.function) for frame in failure.frames] == [
        (6, 4, "train"),
        (None, None, "forward"),
    ]
    assert str(failure).splitlines() == [
        "rank 1: ValueError: bad label",
        "  cell 6, line 4, in train",
        f"    {SOURCE}",
        "  /lib/torch/nn.py, line 20, in forward",
        f"the whole log: nbddp log {folder.name} --rank 1",
    ]


def test_what_the_script_itself_says_is_said_without_a_traceback(folder):
    frames = ((str(folder.script), 9, "check_address"),)
    said = failure_of(folder, failed(folder, rank=None, type="SystemExit", message="no such address", frames=frames))
    assert str(said).splitlines() == ["no such address", f"the whole log: nbddp log {folder.name}"]
    of_a_cell = failure_of(folder, failed(folder, type="SystemExit", message="no data here"))
    assert str(of_a_cell).startswith("rank 1: SystemExit: no data here\n  cell 6, line 4, in train\n")


def test_without_a_line_map_the_scripts_own_lines_are_shown(folder):
    for damage in ("{", "[1]", '[{"cell": 1}]', ""):
        folder.line_map.write_text(damage)
        assert read_line_map(folder.line_map) == {}
    (_, frame, _) = frames_of(failed(folder).failures[0], {}, folder.script)
    assert (frame.cell, frame.source) == (None, "    loss = criterion(model(x), y)")
    folder.script.unlink()
    assert frames_of(failed(folder).failures[0], {}, folder.script)[1].source == ""


def test_a_killed_rank_is_told_with_its_signal_cause_and_last_lines(folder):
    folder.log(1).write_text("epoch 1\nepoch 2\r\n\n")
    state = failed(folder, type="SIGKILL", message="", frames=(), died=True)
    state = changed(state, exit=Exit(1, cause="Memory ran out."))
    failure = failure_of(folder, state)
    assert str(failure).splitlines()[:4] == [
        "rank 1: SIGKILL",
        "Memory ran out.",
        "the last lines of rank 1:",
        "  epoch 1",
    ]


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (RunState(phase="failed", exit=Exit(2)), "ended with status 2"),
        (RunState(phase="killed", exit=Exit(None, cause="It was cancelled.")), "It was cancelled."),
        (RunState(phase="killed", exit=Exit(None)), "the run is killed"),
        (RunState(phase="killed", exit=Exit(None, "SIGKILL", "Who?")), "the main process: SIGKILL\nWho?"),
        (RunState(phase="lost", lost="It has gone."), "It has gone."),
    ],
)
def test_a_run_that_no_rank_explains_is_still_explained(folder, state, text):
    assert str(failure_of(folder, state)).startswith(text)


@pytest.mark.parametrize("phase", ["starting", "training", "done", "stopped"])
def test_what_did_not_fail_has_no_failure(folder, phase):
    assert failure_of(folder, RunState(phase=phase)) is None


def test_a_crash_is_shown_from_the_line_that_tells_of_it(folder):
    folder.log(1).write_text("epoch 1\nFatal Python error: Segmentation fault\n" + "  File x\n" * 50)
    assert last_lines(folder, 1)[0] == "Fatal Python error: Segmentation fault"
    assert last_lines(folder, 5) == []


def test_it_is_an_exception_with_fields():
    error = RunFailed(rank=None, type="", message="ended with status 2")
    assert isinstance(error, Exception)
    assert error.text == str(error) == "ended with status 2"


@pytest.mark.parametrize(
    ("kind", "message", "victim"),
    [
        ("RuntimeError", "[gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:7321", True),
        ("RuntimeError", "Read error [127.0.0.1]:3486: Connection reset by peer", True),
        ("DistBackendError", "NCCL error: ncclRemoteError: A call failed possibly due to a network error", True),
        ("BrokenPipeError", "[Errno 32] Broken pipe", True),
        ("DistNetworkError", "The client socket has timed out; Connection refused", True),
        ("RuntimeError", "CUDA out of memory. Tried to allocate 2.00 GiB", False),
        ("ValueError", "the connection closed column is missing", False),
        ("RuntimeError", "mat1 and mat2 shapes cannot be multiplied", False),
    ],
)
def test_victims_are_known_by_their_words(kind, message, victim):
    assert is_victim(kind, message) is victim


def test_signals_have_causes():
    assert "memory ran out" in cause_of("SIGKILL", 3, 4)
    assert "most likely" in cause_of("SIGKILL", 3, 3)
    assert "most likely" in cause_of("SIGKILL")
    assert "native code" in cause_of("SIGSEGV")
    assert (cause_of(None), cause_of("SIGUSR1")) == ("", "")
    assert (name_of(9), name_of(57)) == ("SIGKILL", "signal 57")
    assert memory_kills() is None or memory_kills() >= 0
