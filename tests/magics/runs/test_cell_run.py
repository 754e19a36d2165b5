"""What a notebook asks of a run and cannot have: one sentence, no line of nbddp's own, and nothing done."""

from __future__ import annotations

import pytest
import torch

from nbddp.export import export
from nbddp.inkernel.progress import Progress
from nbddp.magics.runs import cell_run
from nbddp.magics.runs.cell_run import CellRun
from nbddp.magics.runs.kernel_run import KernelRun
from nbddp.notebook import Notebook, cell_from_source
from nbddp.run.folder.folders import create

WRONG = {
    "another way to stop": (lambda run: run.stop("hard"), "takes 'epoch', 'now' or 'kill', not 'hard'"),
    "a slip": (lambda run: run.stop("epoc"), "(did you mean 'epoch'?); nothing was stopped."),
    "no word at all": (lambda run: run.stop(None), "not None"),
    "a word for a time": (lambda run: run.wait("x"), "run.wait() takes a number of seconds, or nothing, not 'x'."),
    "a time in the past": (lambda run: run.wait(-1), "not -1."),
    "no time": (lambda run: run.wait(float("nan")), "not nan."),
}


@pytest.fixture
def run(tmp_path) -> CellRun:
    """With a log of two ranks, and a result."""
    made = CellRun(create(tmp_path, "digits"))
    for rank in (0, 1):
        made.folder.log(rank).write_text(f"rank {rank}\n")
    torch.save({"format": 1, "states": {}, "values": {"loss": 0.5}, "left_out": {}}, made.folder.result)
    return made


def sentence(ask, run) -> str:
    with pytest.raises(Exception) as raised:  # noqa: PT011 -- what it says is what is looked at
        ask(run)
    shown: list[str] = raised.value._render_traceback_()
    assert len(shown) == 1
    return shown[0]


@pytest.mark.parametrize(("ask", "said"), WRONG.values(), ids=WRONG)
def test_both_kinds_of_runs(run, ask, said):
    assert said in sentence(ask, run)
    assert said in sentence(ask, KernelRun("digits", Progress()))


def test_a_log_of_a_rank_that_there_is_not(run):
    assert run.log(1) == "rank 1\n"
    assert sentence(lambda run: run.log(9), run).endswith("has no log of rank 9: there are logs of 0, 1.")
    assert sentence(lambda run: run.log(9, last=3), run).endswith("has no log of rank 9: there are logs of 0, 1.")


def test_before_any_rank_has_printed_a_log_is_empty(tmp_path):
    assert CellRun(create(tmp_path, "digits")).log() == ""


SETUP = """\
import torch
from torch.utils.data import DataLoader, TensorDataset
model, other = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD([*model.parameters(), *other.parameters()], lr=0.1)
loader = DataLoader(TensorDataset(torch.ones(4, 2)), batch_size=2)"""
LOOP = """\
%%ddp_train
for epoch in range(2):
    for (x,) in loader:
        optimizer.zero_grad()
        loss = (model(x) + other(x)).sum()
        loss.backward()
        optimizer.step()"""
ENDED = '{"event": "exit", "time": 9.0, "status": 0}\n'


def plan():
    return export(Notebook("x.ipynb", (cell_from_source(SETUP, 1), cell_from_source(LOOP, 2)))).plan


@pytest.mark.parametrize("keep", [(), ("other",)])
def test_large_states_that_have_been_loaded_are_kept_once(run, monkeypatch, keep, capsys):
    """What was not loaded stays, and so do values; who asks again is told."""
    monkeypatch.setattr(cell_run, "LARGE", 100)
    namespace = {name: torch.nn.Linear(2, 1) for name in ("model", "other")}
    run.belongs_to(namespace, plan(), keep)
    trained = {name: torch.nn.Linear(2, 1).state_dict() for name in ("model", "other", "third")}
    torch.save({"format": 1, "states": trained, "values": {"loss": 0.5}, "left_out": {}}, run.folder.result)
    run.restore()
    assert set(run.result().states) == {"model", "other", "third"}  # it is not over: it may write the file again
    run.folder.events.write_text(ENDED)
    run.restore()
    assert torch.equal(namespace["model"].weight, trained["model"]["weight"])
    assert set(run.result().states) == {"third", *keep}
    assert run.load("loss") == 0.5
    assert "could not be brought back: the notebook has loaded it already" in sentence(
        lambda run: run.load("model"), run
    )
    capsys.readouterr()
    run.restore()
    assert "--keep model" in capsys.readouterr().out  # and not that nothing has happened


def test_small_states_stay(run):
    namespace = {"model": torch.nn.Linear(2, 1)}
    run.belongs_to(namespace, plan())
    torch.save({"format": 1, "states": {"model": namespace["model"].state_dict()}}, run.folder.result)
    run.folder.events.write_text(ENDED)
    run.restore()
    assert sorted(run.load("model")) == ["bias", "weight"]


def test_a_value_that_did_not_come_back(run):
    assert run.load("loss") == 0.5
    assert sentence(lambda run: run.load("los"), run) == "the run brought back no 'los', only loss"


@pytest.mark.parametrize("name", ["log", "load", "script"])
def test_what_only_runs_on_processes_have(name):
    run = KernelRun("digits", Progress())
    assert not hasattr(run, name)
    assert sentence(lambda run: getattr(run, name), run).startswith(f"AttributeError: run.{name} exists only for runs")
    assert "has no 'lgo'" in sentence(lambda run: run.lgo, run)
