"""A run is started: warm where that is possible and asked for, else cold, and it is written down which."""

from __future__ import annotations

import os
import time

from nbddp.run.folder.errors import LaunchFailed, NotWarm
from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.process import alive, identify
from nbddp.run.start.cold import start_cold
from nbddp.run.start.command import Command, RunOptions
from nbddp.run.start.machine_facts import facts
from nbddp.run.start.warm import WarmHelper
from nbddp.run.supervision.leader import leader_of

Helper = WarmHelper | NotWarm | None  # the reason in place of a helper that could not be had; None: not wanted


def launch(folder: RunFolder, name: str, options: RunOptions, command: Command, helper: Helper) -> None:
    """Start it; back as soon as its supervisor has it."""
    told = how(name, options, command)
    why_cold = str(helper) if isinstance(helper, NotWarm) else ""
    if isinstance(helper, WarmHelper):
        folder.write_command({**told, "start": "warm", "why_cold": ""})
        try:
            helper.launch(folder, command)
        except NotWarm as reason:
            why_cold = str(reason)
        else:
            return
    folder.write_command({**told, "start": "cold", "why_cold": why_cold})
    try:
        start_cold(folder, command)
    except LaunchFailed:
        leader = leader_of(folder)
        if leader is None or not alive(leader):  # else a helper that was given up had started it after all
            raise


def how(name: str, options: RunOptions, command: Command) -> dict[str, object]:
    """What is kept of the way in which a run is started."""
    me = identify(os.getpid())
    return {
        "format": 1,
        "name": name,
        "created": time.time(),
        "nproc": (options.nproc or 1) * options.job.nodes if options.job else options.nproc,
        "command": " ".join(command.arguments),
        "argv": list(command.argv),
        "arguments": list(command.arguments),
        "cwd": command.cwd,
        "quiet": options.quiet,
        "grace": options.grace,
        "owner": me.as_json() if options.attended and me else None,
        "facts": facts(command.python, command.environment),
    }
