"""`%ddp`: the command line's verbs on the notebook that the kernel has executed."""

from __future__ import annotations

import re

import pytest

from nbddp.export import export
from tests.magics.conftest import FILE, TRAIN

pytestmark = pytest.mark.thorough


def test_check_and_export_know_the_executed_cells(kernel, folder):
    kernel.run(TRAIN, "train")
    checked = kernel.run("%ddp check")
    assert checked.status == "ok", checked.error
    assert "an export gives a script" in checked.text
    exported = kernel.run("%ddp export")
    assert exported.status == "ok", exported.error
    assert (folder / "digits & co_ddp.py").read_text() == export(folder / FILE).text
    assert "DistributedSampler" in kernel.run("%ddp rules sampler").text
    shown = kernel.run("%ddp export --stdout")
    assert "def train(rank, world_size, rank_device):" in shown.text
    short, full = (kernel.run(f"%ddp export {option}").text for option in ("--diff", "--diff=full"))
    assert re.search(r"\x1b\[32m\+ [0-9]+ lines of imports\x1b", short)  # a notebook shows colours
    assert "+def main():" in full
    assert "+def main():" not in short


def test_runs_of_this_folder(kernel):
    kernel.run(TRAIN, "train")
    name = kernel.value("run.name")
    assert name in kernel.run("%ddp runs").text
    assert "epoch 2: loss " in kernel.run("%ddp log").text
    attached = kernel.run(f"%ddp attach {name}")
    assert attached.result.startswith(f"<Run {name}: done"), attached.error
    assert "is not running" in kernel.run(f"%ddp stop {name}").text


def test_what_there_is_not(kernel):
    for line, sentence in (
        ("exprt", "no verb 'exprt' (did you mean 'export'?)"),
        ("attach nowhere", "There is no run nowhere."),
        ("log --rnk 1", "no option '--rnk' (did you mean '--rank'?)"),
    ):
        reply = kernel.run(f"%ddp {line}")
        assert reply.status == "error"
        assert sentence in reply.error
        assert "Traceback" not in reply.error


def test_the_tab_key(kernel):
    for code, match in (
        ("%%ddp_train --ba", "--background"),
        ("%%ddp_train --mode s", "single"),
        ("%ddp exp", "export"),
        ("%ddp stop --gr", "--grade"),
    ):
        kernel.client.complete(code, len(code))
        answer = kernel.client.get_shell_msg(timeout=30)
        assert any(found.endswith(match) for found in answer["content"]["matches"]), (code, answer["content"])
