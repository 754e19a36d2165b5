"""A run's processes, forked before anybody asks for one: each fork of all that torch has loaded takes its time."""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from nbddp.run.supervision.leader import become_main, take
from nbddp.run.supervision.supervise import Supervisor
from nbddp.run.watching.start import rehearse

AT_ONCE = 0.01  # seconds within which the request comes for which it was forked
Message = Mapping[str, Any]  # the folder of a run, the kernel's own, and its environment


class Standby:
    """The helper's end of a supervisor that is good for one run. It goes when this is closed, or the helper is gone."""

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

    def start(self, message: Message) -> dict[str, Any]:
        """Have it take this run; what the kernel is to hear."""
        try:
            self.channel.send(message)
            answer = self.channel.receive()
        except OSError:
            answer = None
        return {"cold": "The helper process could not start the run."} if answer is None else answer


def _wait(orders: Channel, base: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """The supervisor to be, until it is asked, or nobody can ask any more."""
    try:
        os.setsid()
        ranks = Ranks(environ)
        pid, script = _script_ahead(ranks, base, orders)
        if not select.select([orders.fileno()], [], [], AT_ONCE)[0]:
            for _ in visible(gpus(), environ) or range(2):  # as many as a script has where it is not told
                ranks.fork_ahead([orders.fileno(), script.fileno()])
        message = orders.receive()
        if message and os.waitpid(pid, os.WNOHANG)[0] == 0:  # else somebody has killed it
            folder = _adopt(message, base)
            take(folder, lambda me: _supervise(folder, me, ranks, _start(pid, script, message)), lambda: _taken(orders))
        ranks.dismiss()
        script.close()
        os.waitpid(pid, 0)
    finally:
        os._exit(1)


def _script_ahead(ranks: Ranks, base: Sequence[str], orders: Channel) -> tuple[int, Channel]:
    """The process that the script will run in."""
    ours, its = socket.socketpair()
    supervisor = os.getpid()
    pid = fork(close=[orders.fileno(), ours.fileno(), *ranks.private()])
    if pid:
        its.close()
        return pid, Channel(ours)
    try:
        channel = Channel(its)
        if not select.select([its], [], [], AT_ONCE)[0]:
            rehearse()
        if message := channel.receive():
            channel.close()
            folder = _adopt(message, base)
            become_main(folder, supervisor)
            become_script(_how(folder)["arguments"], ranks.script_end)
    finally:
        os._exit(127)


def _adopt(message: Message, base: Sequence[str]) -> RunFolder:
    adopt_environment(message["environ"], message["cwd"])
    search_from(message["cwd"], base)
    return RunFolder(Path(message["folder"]))


def _taken(orders: Channel) -> None:
    orders.send({})
    orders.close()


def _start(pid: int, script: Channel, message: Message) -> Callable[[Iterable[int]], int]:
    def start(_private: Iterable[int]) -> int:
        script.send(message)
        script.close()
        return pid

    return start


def _supervise(folder: RunFolder, me: ProcessId, ranks: Ranks, start: Callable[[Iterable[int]], int]) -> None:
    how = _how(folder)
    Supervisor(folder, me, quiet=how["quiet"], grace=how["grace"], ranks=ranks).run(start)


def _how(folder: RunFolder) -> dict[str, Any]:
    how: dict[str, Any] = json.loads(folder.command.read_text(encoding="utf-8"))
    return how
