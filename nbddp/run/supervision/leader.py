"""How a supervisor comes to be: apart from whoever starts it, the leader of a session, and the only one of its run."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

from nbddp.run.folder.files import text_of
from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.fork import STOPPING, end_with_parent, fork, redirect
from nbddp.run.processes.process import ProcessId, from_json, identify
from nbddp.run.state.events import append
from nbddp.watch_points import from_json as points_from_json
from nbddp.watch_points import sums_of


def lead(folder: RunFolder, supervise: Callable[[ProcessId], None]) -> None:
    """Fork the supervisor and end this process, with status 0 once it has the run.

    The supervisor is then no child of the kernel, nor of its helper: a kernel that goes takes its descendants with it.
    """
    ready, tell = os.pipe()
    if fork():
        os.close(tell)
        os._exit(0 if os.read(ready, 1) else 1)
    os.close(ready)
    os.setsid()
    take(folder, supervise, lambda: _say(tell))


def take(
    folder: RunFolder, supervise: Callable[[ProcessId], None], taken: Callable[[], object], **told: object
) -> NoReturn:
    """As the leader of a session, become the supervisor of this run, and say so once it is taken."""
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)  # until the supervisor listens: it would die without a word
        redirect(folder.supervisor_log, folder.supervisor_log)
        me = _claim(folder, again=bool(told.get("attempt")))
        announce(folder, me, **told)
        taken()
        supervise(me)
    except Exception:  # noqa: BLE001 -- the last resort of a process that nobody looks at: into its log
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def become_main(folder: RunFolder, supervisor: int) -> None:
    """In a child of the supervisor: the script's main process."""
    os.setpgid(0, 0)
    end_with_parent(supervisor)
    redirect(folder.stdout, folder.stderr)


def _say(tell: int) -> None:
    os.write(tell, b".")
    os.close(tell)


def _claim(folder: RunFolder, *, again: bool = False) -> ProcessId:
    """Take the run, which only one can: a start that was given up for dead may yet come back to life.

    An engine that starts a run again has seen to it that nothing of the last attempt is left.
    """
    me = identify(os.getpid())
    if me is None:
        raise OSError("this process was not found in the system's list of processes")
    if again:
        folder.supervisor.unlink(missing_ok=True)
    descriptor = os.open(folder.supervisor, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(descriptor, json.dumps(me.as_json()).encode())
    os.close(descriptor)
    return me


def announce(folder: RunFolder, me: ProcessId, **more: object) -> None:
    """The first event of every attempt."""
    how = folder.read_command()
    told = {key: how.get(key) for key in ("name", "nproc", "start", "why_cold", "command")}
    append(folder, "launch", pid=me.pid, script=str(folder.script), sums=_sums(folder), **told, **more)


def _sums(folder: RunFolder) -> list[str]:
    with contextlib.suppress(OSError, ValueError):
        return sums_of(points_from_json(text_of(folder.watch)))
    return []


def leader_of(folder: RunFolder) -> ProcessId | None:
    """Who has this run; None where nobody took it."""
    try:
        return from_json(json.loads(text_of(folder.supervisor)))
    except (OSError, ValueError, KeyError, TypeError):
        return None
