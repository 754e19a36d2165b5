"""A supervisor that is forked before anybody asks for a run, with its ranks: a fork of all that torch has loaded takes
as long as the rest of a start."""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.fork import fork
from nbddp.run.processes.fresh import adopt_environment, search_from
from nbddp.run.processes.process import ProcessId
from nbddp.run.start.machine_facts import gpus, visible
from nbddp.run.start.messages import Channel
from nbddp.run.start.warm_ranks import Ranks
from nbddp.run.start.warm_script import become_script
from nbddp.run.supervision.leader import take
from nbddp.run.supervision.supervise import Supervisor

AT_ONCE = 0.01  # seconds within which a request comes for which it was forked


class Standby:
    """The helper's end: good for one run. It goes when this end is closed, or the helper is gone."""

    def __init__(self, base: Sequence[str], environ: Mapping[str, str], kernel: Channel) -> None:
        ours, its = socket.socketpair()
        self.channel = Channel(ours)
        pid = fork(close=[kernel.fileno(), ours.fileno()])
        if pid == 0:
            if fork() == 0:  # no child of the helper's, which the kernel could take with it
                _wait(Channel(its), base, environ)
            os._exit(0)
        its.close()
        os.waitpid(pid, 0)

    def start(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Have it take this run; what the kernel is to hear."""
        try:
            self.channel.send(message)
            answer = self.channel.receive()
        except OSError:
            answer = None
        return {"cold": "The helper process could not start the run."} if answer is None else answer


def _wait(orders: Channel, base: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """In the process to be: until it is asked, or nobody can ask any more."""
    try:
        os.setsid()
        ranks = Ranks(environ)
        if not select.select([orders.fileno()], [], [], AT_ONCE)[0]:
            for _ in visible(gpus(), environ) or range(2):  # as many as a script has where it is not told
                ranks.fork_ahead([orders.fileno()])
        message = orders.receive()
        if message is None:
            ranks.dismiss()
        else:
            adopt_environment(message["environ"], message["cwd"])
            search_from(message["cwd"], base)
            folder = RunFolder(Path(message["folder"]))
            take(folder, lambda me: _supervise(folder, me, ranks), _answer(orders))
    finally:
        os._exit(1)


def _answer(orders: Channel) -> Callable[[], None]:
    def taken() -> None:
        orders.send({})
        orders.close()

    return taken


def _supervise(folder: RunFolder, me: ProcessId, ranks: Ranks) -> None:
    """The supervisor's life after a warm start."""
    how = json.loads(folder.command.read_text(encoding="utf-8"))
    supervisor = Supervisor(folder, me, quiet=how["quiet"], grace=how["grace"], ranks=ranks)
    supervisor.run(lambda: become_script(how["arguments"], ranks.script_end))
