"""What breaks while a cell trains, or before it is looked at: told in a sentence, and the kernel lives on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from nbddp.run.folder.folders import runs_in
from nbddp.run.run import Run
from nbddp.run.supervision.leader import leader_of
from tests.magics.conftest import MODEL, TAGS, TRAIN, end_runs, set_up
from tests.magics.kernel import Kernel
from tests.magics.test_interrupts import LONG, latest
from tests.run.conftest import until

pytestmark = pytest.mark.thorough


@pytest.fixture
def long(kernel):
    kernel.run(LONG, "parameters", TAGS["parameters"])
    kernel.aside("before = [p.clone() for p in model.parameters()]")
    yield kernel
    assert kernel.value("all(map(torch.equal, before, model.parameters()))") == "True"
    assert kernel.value("6 * 7") == "42"


@pytest.mark.parametrize("who", ["rank", "launcher"])
def test_kill_9_of_a_process_of_the_run_fails_the_cell_and_leaves_nothing(long, folder, who):
    known = len(runs_in(folder))
    asked = long.send(TRAIN, "train")
    run = latest(folder, known)
    os.kill(run.state.ranks[1].pid if who == "rank" else leader_of(run.folder).pid, signal.SIGKILL)
    reply = long.result(asked)
    assert reply.status == "error"
    said = "rank 1: SIGKILL" if who == "rank" else "The process that supervised the run was killed"
    assert said in reply.error
    assert run.processes() == []


def test_kill_9_of_the_helper_leaves_the_run_alone_and_the_next_starts_cold(kernel, folder):
    kernel.run(LONG, "parameters", TAGS["parameters"])
    helper = int(kernel.value("get_ipython()._nbddp_session.helper.process.pid"))
    known = len(runs_in(folder))
    asked = kernel.send(TRAIN, "train")
    run = latest(folder, known)
    os.kill(helper, signal.SIGKILL)
    run.stop("epoch")
    assert kernel.result(asked).status == "ok"
    kernel.run("epochs = 1\nlr = 0.05", "parameters", TAGS["parameters"])
    reply = kernel.run(TRAIN, "train", timeout=120)
    assert reply.status == "ok", reply.error
    assert kernel.value("run.state.start") == "cold"
    assert "helper process had ended" in kernel.value("run.state.why_cold")
    assert kernel.value("get_ipython()._nbddp_session.helper.wait_until_ready(60)") == "True"


def test_an_interrupt_while_a_checkpoint_is_written_leaves_a_whole_one(kernel, folder):
    kernel.run(LONG, "parameters", TAGS["parameters"])
    kernel.run(f"{MODEL}\nmodel.register_buffer('large', torch.zeros(20_000_000))", "model")
    known = len(runs_in(folder))
    asked = kernel.send(TRAIN, "train")
    run = latest(folder, known)
    part = Path(f"{run.folder.checkpoint}.part")
    until(part.exists)
    kernel.interrupt()
    reply = kernel.result(asked)
    assert "was stopped. The notebook's own state is as it was before" in reply.error
    assert run.processes() == []
    kernel.aside(f"import torch; saved = torch.load({str(run.folder.checkpoint)!r}, weights_only=True)")
    done = int(kernel.value("saved['epochs_done']"))
    kernel.run(f"epochs = {done + 1}\nlr = 0.05", "parameters", TAGS["parameters"])
    again = kernel.run(TRAIN.replace("train", f"train --resume '{run.folder.checkpoint}'", 1), "train")
    assert again.status == "ok", again.error
    assert [row["epoch"] for row in json.loads(kernel.value("run.history").replace("'", '"'))] == [done]


def test_a_disk_that_fills_up_while_it_trains(long, folder, tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", place], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        long.aside(f"import os; os.chdir({str(place)!r})")
        filling = TRAIN.replace("    total = 0.0", "    total = 0.0\n    open('f', 'ab').write(b'x' * (1 << 21))")
        reply = long.run(filling, "train")
        assert reply.status == "error"
        assert "No space left on device" in reply.error
        assert not any(Run.attach(run).processes() for run in runs_in(place))
        full = long.run(TRAIN, "train")
        assert "too little for a run: free some space" in full.error
        subprocess.run(["mount", "-o", "remount,ro", place], check=True)
        assert "cannot be written to, so no run can be kept in it" in long.run(TRAIN, "train").error
    finally:
        long.aside(f"os.chdir({str(folder)!r})")
        subprocess.run(["umount", "-l", place], check=True)


def test_events_that_are_damaged_are_left_out_and_that_is_said(kernel, folder):
    assert kernel.run(TRAIN, "train").status == "ok"
    run = Run.attach(runs_in(folder)[-1])
    lines = run.folder.events.read_bytes().splitlines(keepends=True)
    run.folder.events.write_bytes(b"".join([*lines[:3], b'{"event": "st\0\xff\n', b"[]\n", *lines[3:]])[:-20])
    reply = kernel.run(f"%ddp attach {run.name}")
    assert reply.status == "ok", reply.error
    kernel.aside(f"from nbddp.run.run import Run; old = Run.attach({str(run.folder.path)!r})")
    assert kernel.value("old.state.unreadable, len(old.history)") == "3 3"
    assert kernel.value("sorted(old.load('model'))") == "['bias', 'weight']"
    run.folder.events.write_bytes(b"")
    assert "lost" in kernel.run("%ddp runs").text


def test_a_result_of_another_version_is_refused_in_a_sentence(kernel):
    assert kernel.run(TRAIN, "train").status == "ok"
    kernel.aside("path = run.folder.result\nsaved = torch.load(path)\nsaved['format'] = 99\ntorch.save(saved, path)")
    kernel.aside("before = model.weight.clone()")
    reply = kernel.run("run.restore()")
    assert reply.status == "error"
    assert "has format 99, but this version of nbddp reads format 1." in reply.error
    assert "Traceback" not in reply.error
    assert kernel.value("torch.equal(before, model.weight)") == "True"


def test_a_widget_package_that_is_broken_does_not_keep_cells_from_training(tmp_path):
    (tmp_path / "anywidget.py").write_text("raise RuntimeError('made for another traitlets')")
    kernel = Kernel(tmp_path)
    try:
        set_up(kernel)
        reply = kernel.run(TRAIN, "train", timeout=120)
        assert reply.status == "ok", reply.error
        assert "epoch 2: loss" in reply.text
    finally:
        kernel.end()
        end_runs(tmp_path)
