"""Ray as an engine: how it is given a job, asked, and told to end one."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from nbddp.run.engines.known import JobFacts
from nbddp.run.engines.queue import Queue
from nbddp.run.engines.ray.dashboard import ask, call, cancel
from nbddp.run.folder.errors import LaunchFailed
from nbddp.run.folder.folder import RunFolder
from nbddp.run.start.command import Command, RunOptions

NUMBER = re.compile(r"[A-Za-z0-9._-]{1,200}")
ROOT = Path(__file__).resolve().parents[4]
BEGIN = "import sys; sys.path[:] = [*filter(None, sys.path), sys.argv[1]]; from nbddp.run.engines.ray.{} import main; "
# Ends with whoever has started it. In a process with threads nothing may be called between fork and exec.
TIED = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9, 0, 0, 0); "
    "os.getppid() == int(sys.argv[1]) or os._exit(1); os.execvp(sys.argv[2], sys.argv[2:])"
)
PASSED_ON = ("PYTHONPATH", "OMP_NUM_THREADS")  # of the caller's variables: a cluster shows a job's to all its users


def send(folder: RunFolder, name: str, options: RunOptions, command: Command) -> str:  # noqa: ARG001
    assert options.job is not None, "it was chosen by that"
    variables = {k: v for k, v in command.environment.items() if k.startswith("NBDDP_") or k in PASSED_ON}
    number = f"nbddp-{folder.name}"
    body = {
        "submission_id": number,
        "entrypoint": entrypoint(folder, options, command),
        "runtime_env": {"env_vars": variables},
        "metadata": {"run": str(folder.path)},
    }
    reply = call(options.job.address, "/api/jobs/", body)
    if reply.status != 200:
        raise LaunchFailed(f"Ray did not take the job: {reply.why or f'status {reply.status}'}.")
    return str(reply.content.get("submission_id") or number)


def entrypoint(folder: RunFolder, options: RunOptions, command: Command) -> str:
    """What waits for room in the cluster, and then starts what looks after the run there."""
    assert options.job is not None, "it was chosen by that"
    gpus = "" if options.job.gpus is None else str(options.job.gpus)
    words = [str(folder.path), str(options.job.nodes), str(options.nproc or 1), gpus]
    return f"exec {shlex.join([command.python, '-c', BEGIN.format('room') + 'main()', str(ROOT), *words])}"


def why_it_waits(facts: JobFacts) -> str:
    return "Ray starts it" if facts.state == "PENDING" else facts.reason


def why_it_ended(facts: JobFacts, by: str) -> str:  # noqa: ARG001 -- Ray does not say who
    if facts.state == "CANCELLED":
        return "It was stopped, by Ray's own commands or on its dashboard."
    return facts.reason.strip().splitlines()[-1][:500] if facts.reason.strip() else "Its Ray job ended."


RAY = Queue("ray", "Ray", NUMBER, send, ask, cancel, why_it_waits, why_it_ended)
