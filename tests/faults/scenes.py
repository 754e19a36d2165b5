"""The scenes, as data: a notebook with something wrong in it, or something done to its run, and what is to be said."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONG = {"epochs": "100_000", "pause": "0.005"}
NOTEBOOK = """\
# %%
import atexit, os, signal, subprocess, sys, threading, time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
SETUP
# %%
class Rows(Dataset):
    def __init__(self):
        INIT
    def __len__(self):
        return 16
    def __getitem__(self, i):
        time.sleep(PAUSE)
        if i == 5:
            ITEM
        return torch.full((4,), i / 16), torch.ones(1)
# %%
epochs = EPOCHS
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Rows(), batch_size=BATCH, shuffle=True, num_workers=WORKERS)
# %%
#| ddp: train
for epoch in range(epochs):
    total = 0.0
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        STEP
    print(f"epoch {epoch}: loss {total / len(loader):.4f}")
    EPOCH
AFTER
"""
PLACES = {"setup": "pass", "init": "pass", "pause": "0.0", "item": "pass", "epochs": "2", "batch": "4",
          "workers": "0", "step": "pass", "epoch": "pass", "after": "pass"}  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """`act` is done to the run once it trains; `says` is a pattern of what the command prints."""

    name: str
    says: str
    status: int | None = 1  # of the command; None where any will do
    act: str = ""
    options: tuple[str, ...] = ()
    code: tuple[tuple[str, str], ...] = ()  # a place of the notebook, and what stands there
    command: bool = False  # it is about the command, not about the run

    @property
    def notebook(self) -> str:
        text = NOTEBOOK
        for place, code in {**PLACES, **(LONG if self.act else {}), **dict(self.code)}.items():
            start, end = re.split(rf"\b{place.upper()}\b", text)
            text = start + _at(place, code) + end
        return text


def _at(place: str, code: str) -> str:
    """At the depth of its place."""
    depth = {"item": 12, "init": 8, "step": 8, "epoch": 4}.get(place, 0)
    return code.replace("\n", "\n" + " " * depth)


def raised(name: str, code: str, says: str, status: int | None = 1) -> Scene:
    """Wrong in the fifth sample, which one of the ranks has."""
    return Scene(f"a sample: {name}", says, status, code=(("item", code),))


def at(place: str, name: str, code: str, says: str, status: int | None = 1, **more: str) -> Scene:
    return Scene(name, says, status, code=((place, code), *more.items()))


def done(act: str, name: str, says: str, status: int | None = None, *, command: bool = False) -> Scene:
    return Scene(name, says, status, act, command=command)


def waiting(name: str, code: str, place: str = "item") -> Scene:
    """All wait for what does not come: that is told, and the run can be stopped."""
    short = (("epochs", "2"), ("pause", "0.0"), (place, code))
    return Scene(name, r"No progress for", None, "stop when it hangs", code=short)


def refused(name: str, says: str, *options: str) -> Scene:
    return Scene(name, says, 2, command=True, options=options)


CELL = r"cell 2, line \d+"  # of this notebook, where the sample is made
SAMPLES = (
    raised("ValueError", 'raise ValueError(f"bad label {i}")', rf"rank \d: ValueError: bad label 5[\s\S]*{CELL}"),
    raised("KeyError", 'print({}["missing"])', rf"KeyError: 'missing'[\s\S]*{CELL}"),
    raised("division by zero", "print(1 / (i - 5))", rf"ZeroDivisionError[\s\S]*{CELL}"),
    raised("no message", "assert i != 5", rf"AssertionError[\s\S]*{CELL}"),
    raised("MemoryError", "raise MemoryError", rf"MemoryError[\s\S]*{CELL}"),
    raised("no end of calls", "self[i]", r"RecursionError"),
    raised("a message of 10 MB", 'raise ValueError("x" * 10_000_000)', rf"ValueError: x{{20}}[\s\S]*{CELL}"),
    raised("a message of many lines", r'raise ValueError("first\nsecond\nthird")', r"ValueError: first"),
    raised("a message of odd characters", r'raise ValueError("\x1b[2J\x00 \udcff")', r"ValueError"),
    raised("an exception that cannot be shown",
           'raise type("Odd", (Exception,), {"__str__": lambda self: 1 / 0})()', rf"Odd[\s\S]*{CELL}"),
    raised("one exception out of another", 'try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    '
           'raise ValueError("outer") from error', rf"ValueError: outer[\s\S]*{CELL}"),
    raised("KeyboardInterrupt", "raise KeyboardInterrupt", r"rank \d", None),
    raised("sys.exit with a sentence", 'sys.exit("no such label")', r"no such label"),
    raised("sys.exit(3)", "sys.exit(3)", r"rank \d: SystemExit: 3"),
    raised("os._exit(3)", "os._exit(3)", rf"rank \d[\s\S]*status 3[\s\S]*{CELL}|rank \d[\s\S]*cell \d"),
    raised("os._exit(0)", "os._exit(0)", r"rank \d: os._exit\(0\)"),
    raised("out of memory on a GPU", 'raise torch.cuda.OutOfMemoryError("CUDA out of memory.")', r"out of memory"),
    *(raised(name, f"os.kill(os.getpid(), signal.{name})", rf"rank \d[\s\S]*{name}", None)
      for name in ("SIGKILL", "SIGSEGV", "SIGABRT", "SIGTERM", "SIGBUS", "SIGFPE", "SIGILL")),
    raised("a crash in native code", "import ctypes\nctypes.string_at(0)", r"SIGSEGV", None),
)  # fmt: skip
WORKERS = (
    at("item", "a worker: ValueError", 'raise ValueError("bad label")', r"ValueError[\s\S]*bad label", workers="2"),
    at("item", "a worker: killed", "os.kill(os.getpid(), signal.SIGKILL)", r"worker|SIGKILL", workers="2"),
    at("item", "a worker: os._exit(3)", "os._exit(3)", r"worker", workers="2"),
)
PLACED = (
    at("init", "where the data is made", 'raise OSError("no such data")', r"OSError: no such data"),
    at("epoch", "at the end of an epoch", 'raise ValueError("bad epoch")', r"ValueError: bad epoch"),
    at("after", "after the training", 'raise ValueError("bad end")', r"ValueError: bad end|epoch 1", None),
    at("step", "shapes that do not fit", "x @ torch.ones(9)", r"RuntimeError|size mismatch"),
    at("step", "a second backward", "loss.backward()", r"RuntimeError[\s\S]*backward"),
    at("step", "a loss that is not a number", "model.weight.data.fill_(float('nan'))", r"not a finite number", 0),
    at("step", "50,000 lines a step", 'for n in range(50_000):\n    print("line", n)', r"epoch 1", 0),
    at("init", "a process that is left", 'subprocess.Popen(["sleep", "600"])', r"epoch 1", 0),
    at("init", "a process that has left the session", 'subprocess.Popen(["sleep", "600"], start_new_session=True)',
       r"epoch 1", 0),
    at("init", "an exit that fails", "atexit.register(lambda: 1 / 0)", r"epoch 1", None),
    at("init", "ranks that do not listen to SIGTERM", "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
       r"ValueError: bad", item='raise ValueError("bad")'),
)  # fmt: skip
REFUSED = (
    Scene("no Python", r"not valid Python|invalid syntax", 2, code=(("setup", "x = = 1"),), command=True),
    at("setup", "no package of this name", "import no_such_package\nno_such_package.f()", r"no_such_package", None),
    Scene(
        "a batch too small for all processes",
        r"too small for 2 processes",
        2,
        code=(("batch", "1"),),
        command=True,
        options=("--nproc", "2"),
    ),
    Scene(
        "a checkpoint that is not there", r"no checkpoint .*none.pt", 2, command=True, options=("--resume", "none.pt")
    ),
    Scene(
        "a checkpoint that is none", r"not a complete checkpoint", 2, command=True, options=("--resume", "notebook.py")
    ),
    Scene("no process", r"at least 1", 2, command=True, options=("--nproc", "0")),
    Scene("a GPU that is not there", r"no GPU 7", 2, command=True, options=("--devices", "7")),
    Scene("a backend that is none", r"no backend mcp", 2, command=True, options=("--backend", "mcp")),
    Scene("an option that is none", r"no option '--npoc'.*--nproc", 2, command=True, options=("--npoc", "2")),
)
DONE = (
    waiting("a sample that ends the loop of one rank", "raise StopIteration"),
    waiting("a sample that never comes", "time.sleep(1e6)"),
    waiting("a thread that does not end", "threading.Thread(target=time.sleep, args=(600,)).start()", "init"),
    done("kill rank 0", "rank 0 is killed", r"rank 0: SIGKILL"),
    done("kill rank 1", "rank 1 is killed", r"rank 1: SIGKILL"),
    done("kill main", "the main process is killed", r"SIGKILL"),
    done("kill supervisor", "the supervisor is killed", r"supervised the run was killed"),
    done("kill supervisor and warden", "the supervisor and its warden are killed", r"without a message|killed"),
    done("kill all", "all processes are killed", r"without a message|killed"),
    done("stop rank 1", "rank 1 stands still, then goes on and is stopped", r"stopped|ended"),
    done("interrupt", "Ctrl-C", r"epoch", command=True),
    done("interrupt twice", "Ctrl-C twice", r"[Ss]topp", command=True),
    done("interrupt thrice", "Ctrl-C three times at once", r"(?i)stopp|kill", command=True),
    done("terminate", "the command is ended", r"", command=True),
    done("hang up", "the terminal is closed", r"", command=True),
    done("kill command", "the command is killed", r"", command=True),
    done("stop epoch", "nbddp stop --grade epoch", r"stopped", 0),
    done("stop now", "nbddp stop", r"stopped"),
    done("stop kill", "nbddp stop --grade kill", r"killed"),
    done("delete folder", "the run's folder is deleted", r"folder was deleted"),
    done("delete logs", "the logs are deleted and the run is stopped", r"stopped"),
    done("empty events", "the events are emptied and the run is stopped", r""),
    done("garble events", "the events are garbled and the run is stopped", r"not readable|stopped"),
    done("delete script", "the script is deleted and the run is stopped", r"stopped"),
)
SCENES: tuple[Scene, ...] = (*SAMPLES, *WORKERS, *PLACED, *REFUSED, *DONE)
