"""A training that stops half way on two processes and goes on from its checkpoint on three ends as one that did not."""

from __future__ import annotations

import sys
from pathlib import Path

import torch

import nbddp
from nbddp.export import Script
from nbddp.notebook import notebook_from_percent
from nbddp.options import Options
from tests.e2e.claims import training
from tests.e2e.outcome import Outcome
from tests.e2e.process import run_alone
from tests.e2e.runner import run_script

NOTEBOOK = """# %% tags=["parameters"]
epochs = 4
# %%
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

images, labels = load_digits(return_X_y=True)
images = torch.as_tensor(images, dtype=torch.float32) / 16
train_set = TensorDataset(images[:1440], torch.as_tensor(labels[:1440]))
train_loader = DataLoader(train_set, batch_size=60, shuffle=True)
model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
# %%
best, history = float("inf"), []
for epoch in range(epochs):
    total = 0.0
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step()
    history.append(total / len(train_loader))
    best = min(best, history[-1])
    print(f"epoch {epoch}: {history[-1]:.6f}, best {best:.6f}, of {len(history)}")
"""

DATA = NOTEBOOK.partition("scheduler =")[0]
TRAINER = f"""{DATA}
# %%
class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.counter = patience, None, 0

    def __call__(self, loss):
        if self.best is None or loss < self.best - 10:
            self.best, self.counter = loss, 0
        else:
            self.counter += 1
        return self.counter >= self.patience


class Trainer:
    def __init__(self, model, epochs):
        self.model, self.epochs = model, epochs
        self.history, self.stopping = [], EarlyStopping(patience=3)

    def fit(self):
        for epoch in range(self.epochs):
            self.history.append(self.one_epoch())
            stop = self.stopping(self.history[-1])
            print(f"epoch {{epoch}}: {{self.history}}, {{self.stopping.best:.6f}}, {{self.stopping.counter}}")
            if stop:
                break

    def one_epoch(self):
        total = 0.0
        for x, y in train_loader:
            loss = nn.functional.cross_entropy(self.model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        return round(total / len(train_loader), 4)


# %%
trainer = Trainer(model, epochs)
# %%
trainer.fit()
"""


def script_of(notebook: str) -> Script:
    return nbddp.export(notebook_from_percent(notebook, "resumed.py"))


def run(nproc: int, *options: str, notebook: str = NOTEBOOK, **variables: str) -> Outcome:
    script = script_of(notebook)
    return run_script(
        script.text, "resumed_ddp.py", nproc, forked=True, options=options, watch=script.watch, variables=variables
    )


def test_resume_on_another_number_of_processes(tmp_path: Path, proved) -> None:
    proved(training("a resumed loop", script_of(NOTEBOOK), 3), lambda: goes_on_on_three(str(tmp_path / "half.pt")))


def goes_on_on_three(checkpoint: str) -> None:
    whole = run(2)
    run(2, "--epochs", "2", NBDDP_CHECKPOINT=checkpoint)
    saved = torch.load(checkpoint, weights_only=True)
    assert (saved["epochs_done"], len(saved["random"])) == (2, 2)
    resumed = run(3, NBDDP_RESUME=checkpoint)
    assert resumed.lines == whole.lines[2:]
    for name in ("model", "optimizer", "scheduler"):
        state, expected = resumed.states[name], whole.states[name]
        assert state.keys() == expected.keys()
        for key in expected:
            torch.testing.assert_close(state[key], expected[key], rtol=0, atol=1e-6)


def test_a_trainer_goes_on_with_what_it_remembers(tmp_path: Path, proved) -> None:
    proved(
        training("a resumed trainer", script_of(TRAINER), 2), lambda: stops_where_it_would(str(tmp_path / "half.pt"))
    )


def stops_where_it_would(checkpoint: str) -> None:
    """In the epoch in which it would have stopped, and not as many epochs complete in the checkpoint."""
    whole = run(2, "--epochs", "9", notebook=TRAINER)
    assert len(whole.lines) == 4
    run(2, "--epochs", "2", notebook=TRAINER, NBDDP_CHECKPOINT=checkpoint)
    assert run(2, "--epochs", "9", notebook=TRAINER, NBDDP_RESUME=checkpoint).lines == whole.lines[2:]


def own_checkpoints() -> str:
    """The script that writes them itself; with dropout, for which each rank draws numbers of its own."""
    dropout = NOTEBOOK.replace("nn.ReLU()", "nn.ReLU(), nn.Dropout(0.1)")
    return nbddp.export(notebook_from_percent(dropout, "resumed.py"), Options(checkpoints=True)).text


def by_hand(folder: Path, script: str, *options: str, command: tuple[str, ...] = (), **variables: str) -> list[str]:
    """Run it in this folder, where it leaves its checkpoint beside itself."""
    folder.mkdir(exist_ok=True)
    (folder / "own_ddp.py").write_text(script)
    printed, _, _ = run_alone([sys.executable, *command, "own_ddp.py", *options], folder, folder, 240.0, **variables)
    return printed.splitlines()


def test_the_scripts_own_checkpoint_goes_on_where_it_stopped(tmp_path: Path, proved) -> None:
    script = own_checkpoints()
    proved(training("own checkpoints", script, 2), lambda: goes_on_by_itself(tmp_path, script))


def goes_on_by_itself(folder: Path, script: str) -> None:
    """To the last digit on as many processes, dropout included; on another number it goes on as well."""
    whole = by_hand(folder / "whole", script)
    assert len(whole) == 4
    half = folder / "half"
    assert by_hand(half, script, "--epochs", "2") == whole[:2]
    file = half / "own_ddp.pt"
    saved = torch.load(file, weights_only=False)
    assert (saved["epoch"], saved["batches"], len(saved["ranks"])) == (2, 0, 2)
    assert not torch.equal(*(each["random"]["torch"] for each in saved["ranks"]))
    on_three = by_hand(folder / "three", script, "--resume", str(file), "--nproc", "3", "--epochs", "3")
    assert [line.partition(":")[0] for line in on_three] == ["epoch 2"]
    assert by_hand(half, script, "--resume", "auto") == whole[2:]
    assert by_hand(half, script, "--resume", "auto") == [], "all is done"
    assert by_hand(half, script) == whole
    assert torch.load(half / "own_ddp.pt.old", weights_only=False)["epoch"] == 4, "it is kept"


def test_it_goes_on_by_itself_where_torchrun_starts_it_again(tmp_path: Path, proved) -> None:
    fault = """    for epoch in range(epochs):
        if epoch == 2 and rank == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
            os._exit(7)
"""
    script = own_checkpoints().replace("    for epoch in range(epochs):\n", fault)
    assert fault in script
    proved(training("started again by torchrun", script, 2), lambda: comes_back(tmp_path, script))


def comes_back(folder: Path, script: str) -> None:
    torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", "1")
    lines = by_hand(folder / "torchrun", script, command=torchrun, TORCH_DISABLE_SHARE_RDZV_TCP_STORE="1")
    assert lines == by_hand(folder / "spawned", own_checkpoints())
