"""The helper process of a kernel: has torch imported, touches no device, runs no op, and forks supervisors on demand.

It hears of its kernel's end by the end of their socket, or by getting another parent, and then goes too. The runs that
it started do not: they are apart from it.
"""

from __future__ import annotations

import gc
import importlib
import json
import linecache
import os
import select
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbddp.run.processes.at_import import changed_between
from nbddp.run.start.installed import Installed
from nbddp.run.start.messages import Channel
from nbddp.run.start.standby import Standby

LOOK = 1.0  # seconds between two looks whether the kernel is still there

# When torch is seeded it writes down from where, with the lines of all these files, once for each kind of device.
WHEN_SEEDING = (
    "multiprocessing.process multiprocessing.spawn torch.multiprocessing.spawn torch._compile torch._dynamo.eval_frame "
    "torch.random torch.cuda torch.cuda.random torch.mtia torch.xpu torch.xpu.random"
).split()

# Modules that start threads or services when they are imported: a process that has them is not safe to fork.
NOT_TO_FORK = frozenset({"tensorflow", "jax", "jaxlib", "ray", "wandb", "pyspark", "grpc", "IPython", "ipykernel"})


def main(descriptor: int, preload: list[str], refused: dict[str, str]) -> None:
    """Serve the kernel at the other end of this socket until it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel = os.getppid()
    server = Server(Channel.from_descriptor(descriptor), Installed.of_this_interpreter(), refused)
    server.load(preload)
    server.stand_by()
    server.say_ready()
    while os.getppid() == kernel:
        if not select.select([server.channel.fileno()], [], [], LOOK)[0]:
            server.stand_by()
            continue
        message = server.channel.receive()
        if message is None:
            break
        server.answer(message)
    os._exit(0)


class Server:
    """What the helper has loaded, and what it does with a request."""

    def __init__(self, channel: Channel, installed: Installed, refused: dict[str, str]) -> None:
        self.channel = channel
        self.installed = installed
        self.environ = dict(os.environ)
        self.base = list(sys.path)
        self.fingerprint = installed.fingerprint()
        self.refused = refused  # what is not to be imported, and why
        self.loaded: list[str] = []
        self.standby: Standby | None = None

    def load(self, names: Sequence[str]) -> None:
        """Import these as far as they are installed packages, never a module of the user's own."""
        sys.path[:] = [path for path in self.base if self.installed.holds(path)] + [str(Path(__file__).parents[3])]
        importlib.invalidate_caches()
        for name in names:
            self._load(name)
        for module in filter(None, map(sys.modules.get, WHEN_SEEDING)):
            linecache.getlines(str(module.__file__))
        gc.collect()
        gc.freeze()  # so that a collection in a child does not touch, and thereby copy, all that was loaded here

    def stand_by(self) -> Standby:
        """A supervisor for the next run."""
        if self.standby is None:
            self.standby = Standby(self.base, self.environ, self.channel)
        return self.standby

    def _drop_standby(self) -> None:
        """It has a run, or lacks what is loaded next."""
        if self.standby is not None:
            self.standby.channel.close()
            self.standby = None

    def _load(self, name: str) -> None:
        if name in self.refused or name.partition(".")[0] in NOT_TO_FORK:
            return
        before = set(sys.modules)
        self.loaded.append(name)
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 -- an import runs any code; the script will meet the same error itself
            self.refused[name] = f"{type(error).__name__}: {error}"
        if any(self.installed.is_stray(sys.modules[new]) for new in set(sys.modules) - before):
            self._begin_again_without(name)

    def _begin_again_without(self, name: str) -> None:
        """An installed package brought a module of the user's own along, which may change before the next run."""
        self.refused[name] = "it imports a module that is not an installed package"
        rest = [loaded for loaded in self.loaded if loaded not in self.refused]
        words = sys.orig_argv[: sys.orig_argv.index("-c") + 3]
        os.execv(sys.executable, [*words, str(self.channel.fileno()), json.dumps(rest), json.dumps(self.refused)])

    def say_ready(self) -> None:
        """The kernel may ask; it may have asked already."""
        self.channel.send({"ready": "torch" in sys.modules, "refused": self.refused})

    def answer(self, message: Mapping[str, Any]) -> None:
        """Load more, or start a run, or say why not."""
        if "load" in message:
            if new := [name for name in message["load"] if name not in sys.modules]:
                self._drop_standby()
                self.load(new)
            return
        if why := self.out_of_date(message):
            self.channel.send({"cold": why, "stale": True})
        elif why := self.why_not(message):
            self.channel.send({"cold": why})
        else:
            answer = self.stand_by().start(message)
            self._drop_standby()
            self.channel.send(answer)

    def out_of_date(self, message: Mapping[str, Any]) -> str:
        """A sentence where a helper that is started now would do what this one cannot."""
        if changed := changed_between(self.environ, message["environ"]):
            return f"The variable {changed[0]} has changed since the helper process started."
        if self.installed.fingerprint() != self.fingerprint:
            return "Packages were installed or removed since the helper process started."
        return ""

    def why_not(self, message: Mapping[str, Any]) -> str:
        """A sentence where a forked run could differ from one that starts anew; else nothing."""
        if "torch" not in sys.modules:
            return f"torch could not be imported ({self.refused.get('torch', 'no reason known')})."
        path = [message["cwd"], *(entry for entry in self.base if not self.installed.holds(entry))]
        if shadow := self.installed.shadowed(path, sys.modules):
            return f"{shadow} hides a module of the same name that the helper process has already imported."
        return _unsafe()


def _unsafe() -> str:
    """Whether something that was imported has done more than being imported."""
    if threading.active_count() > 1:
        return "A package that the helper process imported has started a thread."
    torch = sys.modules["torch"]
    if torch.cuda.is_initialized():
        return "A package that the helper process imported has already used a GPU."
    return ""
