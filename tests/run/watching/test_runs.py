"""An exported script, run by nbddp: it says nothing of being watched, and all of it is seen."""

from __future__ import annotations

import os
import signal

import pytest
import torch

import nbddp
from nbddp.notebook import notebook_from_percent
from nbddp.run.run import Run
from nbddp.run.start.command import RunOptions
from tests.run.conftest import until

NOTEBOOK = """# %% tags=["parameters"]
epochs = 3
# %%
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(48, 4)
data = TensorDataset(x, x.sum(1, keepdim=True))
loader = DataLoader(data, batch_size=8, shuffle=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
# %%
losses = []
for epoch in range(epochs):
    total = 0.0
    for a, b in loader:
        loss = (model(a) - b).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    losses.append(total / len(loader))
    print(f"epoch {epoch}: {losses[-1]:.6f}")
    HAPPENS
print("behind")
"""
STARTS = pytest.mark.parametrize("start", ["warm", "cold"])


@pytest.fixture
def begin(tmp_path, helper):
    runs = []

    def begin(happens="pass", *, start="warm", edit=lambda text: text, fill=None, **options):
        script = nbddp.export(notebook_from_percent(NOTEBOOK.replace("HAPPENS", happens), "small.py"))
        run = Run.start(
            edit(script.text), "small", RunOptions(**{"nproc": 2, **options}), root=tmp_path, fill=fill,
            helper=helper if start == "warm" else None, watch=script.watch,
        )  # fmt: skip
        runs.append(run)
        return run

    yield begin
    for run in runs:
        if run.processes():
            run.stop("kill")


@STARTS
def test_all_of_it_is_seen(begin, start):
    run = begin(start=start)
    state = run.wait(120)
    assert (state.phase, state.start, run.failure) == ("done", start, None)
    lines = run.log(0).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["epoch 0", "epoch 1", "epoch 2", "behind"]
    assert run.log(1).splitlines() == lines, "each rank has its own log, and speaks there"
    assert (state.step, sorted(state.ranks)) == (18, [0, 1])
    assert [round(row["total"] / 6, 6) for row in run.history] == [float(line.split()[-1]) for line in lines[:-1]]
    result = run.result()
    assert result.states["model"].keys() == {"weight", "bias"}
    assert result.states["optimizer"]["param_groups"][0]["lr"] == 0.1
    assert [f"{value:.6f}" for value in result.values["losses"]] == [line.split()[-1] for line in lines[:-1]]
    assert run.folder.stderr.read_text() == ""


def test_a_stop_after_the_epoch_and_what_goes_on_from_it(begin):
    endless = begin("__import__('time').sleep(0.05)", arguments=("--epochs", "5000"))
    until(lambda: endless.log(0).count("epoch") >= 2, 60)
    endless.stop("epoch")
    assert endless.wait(60).phase == "stopped"
    done = endless.log(0).count("epoch")
    assert torch.load(endless.folder.checkpoint, weights_only=True)["epochs_done"] == done
    more = begin(resume=str(endless.folder.checkpoint), arguments=("--epochs", str(done + 2)), nproc=1)
    assert more.wait(60).phase == "done"
    whole = begin(arguments=("--epochs", str(done + 2)))
    assert whole.wait(60).phase == "done"
    assert more.log(0).splitlines() == whole.log(0).splitlines()[done:]
    assert more.result().values["losses"] == pytest.approx(whole.result().values["losses"], abs=1e-6)


@STARTS
def test_an_error_on_rank_1_is_told_with_its_line(begin, start):
    rank = "torch.distributed.get_rank()"
    run = begin(f'if epoch == 1 and {rank} == 1: raise ValueError("bad label")', start=start)
    assert run.wait(120).phase == "failed"
    failure = run.failure
    assert (failure.rank, failure.type, failure.message) == (1, "ValueError", "bad label")
    assert [frame.function for frame in failure.frames] == ["run", "train"]
    assert "raise ValueError" in failure.frames[-1].source
    assert run.processes() == []


SPEECHLESS = 'type("Odd", (ValueError,), {"__str__": lambda self: 1 / 0})'
ENDS = {
    "os._exit": ("__import__('os')._exit(3)", "os._exit(3)", ""),
    "a message of 10 MB": ('raise ValueError("x" * 10_000_000)', "ValueError", "x" * 100),
    "a message that fails": (f"raise {SPEECHLESS}()", "Odd", "(its message could not be had: ZeroDivisionError)"),
}


@pytest.mark.parametrize(("ends", "kind", "message"), ENDS.values(), ids=ENDS)
def test_however_a_rank_ends_it_is_named_with_its_line(begin, ends, kind, message):
    run = begin(f"if epoch == 1 and torch.distributed.get_rank() == 1: {ends}")
    assert run.wait(60).phase == "failed"
    failure = run.failure
    assert (failure.rank, failure.type) == (1, kind)
    assert failure.message.startswith(message)
    assert len(failure.text) < 100_000
    assert failure.frames[-1].source.endswith(ends)
    assert run.state.unreadable == 0


def test_a_rank_that_is_killed_from_outside_is_named_with_the_line_where_it_was_last_seen(begin):
    run = begin("__import__('time').sleep(0.05)", arguments=("--epochs", "5000"))
    until(lambda: len(run.state.ranks) == 2 and run.state.ranks[1].step, 60)
    os.kill(run.state.ranks[1].pid, signal.SIGKILL)
    assert run.wait(60).phase in {"failed", "killed"}
    (frame,) = run.failure.frames
    assert (run.failure.rank, run.failure.type, frame.source.strip()) == (1, "SIGKILL", "optimizer.step()")
    assert f"  last seen in {run.folder.script}, line {frame.line}, in train" in run.failure.text


def test_the_last_epoch_of_a_loop_that_is_left_is_told_and_saved(begin):
    run = begin("if epoch == 1: break")
    assert run.wait(60).phase == "done"
    assert len(run.history) == 2
    saved = torch.load(run.folder.checkpoint, weights_only=True)
    assert (saved["epochs_done"], saved["left"], len(saved["values"]["losses"])) == (2, True, 2)


def test_a_script_that_was_changed_by_hand_is_watched_as_far_as_it_is_known_again(begin):
    def edit(text):
        return text.replace("import argparse\n", "# mine\nimport argparse\n").replace(
            "optimizer.step()", "optimizer.step( )"
        )

    run = begin(edit=edit)
    state = run.wait(60)
    assert (state.phase, state.step, len(run.history)) == ("done", 0, 3)
    assert run.result().values["epoch"] == 2
    assert run.folder.stderr.read_text() == "The script was changed since its export: 1 of 6 places are not watched.\n"


def test_it_starts_from_the_state_that_it_is_given(begin):
    weights = {"weight": torch.ones(1, 4), "bias": torch.zeros(1)}

    def fill(folder):
        torch.save({"format": 1, "loop": 1, "states": {"model": weights}, "values": {"losses": [9.0]}}, folder.start)

    run = begin(fill=fill)
    assert run.wait(60).phase == "done"
    assert run.log(0).splitlines()[0] == "epoch 0: 0.000000"
    assert run.result().values["losses"][0] == 9.0, "it goes on with what it was given"
    assert not run.folder.start.exists(), "as large as the model, and loaded"


def test_nothing_to_resume_is_said(tmp_path):
    with pytest.raises(nbddp.run.folder.errors.LaunchFailed, match="nothing to resume"):
        Run.start("print(1)", "x", RunOptions(resume="x.pt"), root=tmp_path)
