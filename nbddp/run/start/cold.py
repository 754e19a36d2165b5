"""A cold start: a new interpreter for the supervisor, which starts another for the script."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.folder.folder import RunFolder
from nbddp.run.processes.fork import fork
from nbddp.run.processes.interrupts import breakable
from nbddp.run.processes.process import ProcessId
from nbddp.run.start.command import Command
from nbddp.run.supervision.leader import become_main, lead
from nbddp.run.supervision.supervise import Supervisor

# -I and -S: no variable, no .pth file and no module of the user's gets into the supervisor, and it starts in no time.
BOOT = "import sys; sys.path.append(sys.argv[1]); from nbddp.run.start.cold import main; main(sys.argv[2])"
ROOT = Path(__file__).resolve().parents[3]
WITHIN = 60.0  # seconds; it takes a twentieth of one, but a busy file system may take its time


def start_cold(folder: RunFolder, command: Command) -> None:
    """Start the run's supervisor, which outlives this process; back as soon as it has the run."""
    words = [command.python, "-I", "-S", "-c", BOOT, str(ROOT), str(folder.path)]
    with folder.supervisor_log.open("ab") as log:
        try:
            process = subprocess.Popen(
                words,
                env=dict(command.environment),
                cwd=command.cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            status = _status(process)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise LaunchFailed(f"{command.python} could not be started in {command.cwd}: {error}.") from error
    if status != 0:
        said = folder.supervisor_log.read_text(errors="replace").strip().splitlines()
        raise LaunchFailed(f"The run could not be started: {said[-1] if said else f'status {status}'}.")


def _status(process: subprocess.Popen[bytes]) -> int:
    """How it ended; where nobody waits for that any longer, it is ended here."""
    with process:
        try:
            return breakable(lambda: process.wait(WITHIN))
        except BaseException:
            process.kill()
            raise


def main(path: str) -> None:
    """The new interpreter: leaves a supervisor behind and ends."""
    folder = RunFolder(Path(path))
    lead(folder, lambda me: supervise(folder, me))


def supervise(folder: RunFolder, me: ProcessId) -> None:
    """The supervisor's life."""
    how = json.loads(folder.command.read_text(encoding="utf-8"))
    Supervisor(folder, me, quiet=how["quiet"], grace=how["grace"]).run(
        lambda private: start_main(folder, tuple(how["argv"]), private)
    )


def start_main(folder: RunFolder, argv: tuple[str, ...], private: Iterable[int]) -> int:
    """The script's own interpreter."""
    me = os.getpid()
    pid = fork(close=private)
    if pid:
        return pid
    try:
        become_main(folder, me)
        os.execvp(argv[0], argv)
    finally:
        os._exit(127)
