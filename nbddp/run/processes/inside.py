"""What runs around the script in its main process: `python inside.py x.py ...` is `python x.py ...`, and more.

More is: an error of the main process itself, or a rank found dead by it, is reported as an event; and each process
answers a signal by writing down its stack, so that a silent run can be asked what it waits for. The script itself stays
unchanged and knows nothing of this; what is watched in it is hung into its syntax tree (`watching`). This file is run
by its path, so that a script has the same modules around it as when it is started by hand.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import platform
import signal
import sys
import time
import traceback
import types
from importlib.machinery import SourceFileLoader
from multiprocessing import spawn
from pathlib import Path
from typing import Any, NoReturn

# A real-time signal that nothing else is known to use: clusters announce preemption with SIGUSR1 and SIGUSR2.
STACK_SIGNAL = signal.SIGRTMAX - 7 if hasattr(signal, "SIGRTMAX") else getattr(signal, "SIGUSR2", 0)
IN_SPAWNED = """\
try:
    import faulthandler, os
    faulthandler.register({signal}, open(os.path.join(os.environ["NBDDP_STACKS"], "%d.txt" % os.getpid()), "w"))
except Exception:
    pass
import sys
sys.path.append({root!r})
from nbddp.run.watching.leaving import leave
from nbddp.run.watching.start import enter_spawned
enter_spawned()
try:
    {command}
except SystemExit as leaving:
    leave(leaving.code)
"""
ROOT = str(Path(__file__).parents[3])


def main() -> None:
    """Become the script named on the command line."""
    if sys.path[:1] == [str(Path(__file__).parent)]:
        del sys.path[0]
    sys.path.insert(0, str(Path.cwd()))  # where the notebook runs: its own modules are found as they are there
    del sys.argv[0]
    if is_task():
        take_part()
    answer_for_stacks()
    let_spawned_answer()
    if "RANK" in os.environ or is_task():  # started by torchrun, or by srun
        run_to_the_end(sys.argv[0])
    run(sys.argv[0])


def is_task() -> bool:
    """Whether an engine has started it as one of the ranks, on whatever machine."""
    return "NBDDP_PAUSE" in os.environ


def take_part() -> None:
    """Each machine appends to a file of its own; one that does not see the folder says so, and no rank waits for it.

    An engine that wants its machines back sends SIGTERM some time before it takes them, enough for an epoch maybe: a
    rank tells all of them by a file. What it forks ends by the signal as ever.
    """
    path, here = os.environ["NBDDP_EVENTS"].replace("%h", platform.node()), platform.node()
    if not Path(path).parent.is_dir():
        sys.exit(f"{here} does not see the run's folder {Path(path).parent}: it must be on a file system of all nodes.")
    os.environ["NBDDP_EVENTS"] = path
    signal.signal(signal.SIGTERM, lambda *_: Path(os.environ["NBDDP_PAUSE"]).touch())
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))


def answer_for_stacks() -> None:
    """Write the stack of each thread to a file of this process whenever the signal comes; it interrupts nothing."""
    try:
        file = Path(os.environ["NBDDP_STACKS"], f"{os.getpid()}.txt").open("w")  # noqa: SIM115 -- open while we live
        faulthandler.register(STACK_SIGNAL, file)
    except (OSError, KeyError):
        pass  # a run without stacks is still a run


def let_spawned_answer() -> None:
    """The same in the processes that `spawn` starts: they are new interpreters, reached by their command line only."""
    original = spawn.get_command_line

    def get_command_line(**arguments: Any) -> list[str]:
        command: list[str] = original(**arguments)
        if "-c" in command:
            place = command.index("-c") + 1
            command[place] = IN_SPAWNED.format(signal=int(STACK_SIGNAL), root=ROOT, command=command[place])
        return command

    spawn.get_command_line = get_command_line


def run_to_the_end(script: str) -> NoReturn:
    """The same, and the end of the process as an interpreter would end it."""
    code: object = 1
    try:
        run(script)
        code = None
    except SystemExit as leaving:
        code = leaving.code
    except BaseException:  # noqa: BLE001 -- what an interpreter prints before it ends
        traceback.print_exc()
    from nbddp.run.watching.leaving import leave  # by now the package has been found

    leave(code)


def run(script: str) -> None:
    """Execute the file as `__main__`, as `python script.py` does, and let its exit be the process's."""
    module = types.ModuleType("__main__")
    module.__file__ = script
    module.__loader__ = SourceFileLoader("__main__", script)
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    try:
        exec(watched_code(script), module.__dict__)
    except KeyboardInterrupt:
        raise
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            report(leaving)
        raise
    except BaseException as error:  # noqa: BLE001 -- told as an event, printed, and it ends the process all the same
        report(error)
        traceback.print_exception(type(error), error, error.__traceback__)
        sys.exit(1)


def watched_code(script: str) -> types.CodeType:
    """Compiled by the package that watches, which is found whatever this process finds its modules by."""
    own = list(sys.path)
    sys.path.append(ROOT)
    try:
        from nbddp.run.watching.start import code_of
    finally:
        sys.path[:] = own
    return code_of(script)


def report(error: BaseException) -> None:
    """An event that says what happened. Torch's two exceptions tell of a rank; any other is the main process's own,
    unless that is a rank itself, which has told it."""
    from nbddp.run.watching.errors import cut, described  # by now the package has been found
    from nbddp.run.watching.start import has_told

    if has_told(error):
        return
    index, code = getattr(error, "error_index", None), getattr(error, "exit_code", None)
    if index is not None and code is not None:
        name, status = getattr(error, "signal_name", None), code if code >= 0 else None
        event = {"event": "died", "rank": index, "pid": error.error_pid, "signal": name, "status": status}  # type: ignore[attr-defined]
    elif index is not None:
        event = {"event": "error", "rank": index, "secondhand": True, "victim": False}
        event |= {name: cut(text) for name, text in _told(str(error)).items()} | {"traceback": []}
    else:
        traced = error.__traceback__.tb_next if error.__traceback__ else None  # without this file's frame
        event = {"event": "error", "rank": None, "victim": False, **described(error.with_traceback(traced))}
    append({**event, "time": time.time()})


def _told(text: str) -> dict[str, str]:
    """A rank's traceback, as text, ends with the exception's type and message."""
    lines = [line for line in text.strip().splitlines() if line and not line.startswith(" ")]
    kind, _, message = (lines[-1] if lines else "").partition(": ")
    return {"type": kind.rpartition(".")[2], "message": message, "text": text.strip()}


def append(event: dict[str, object]) -> None:
    """One line, one write; on a full disk into what was set aside for it."""
    path = os.environ.get("NBDDP_EVENTS")
    if not path:
        return
    line = (json.dumps(event, default=str) + "\n").encode()
    short = {**event, "message": str(event.get("message", ""))[:1000], "text": "", "traceback": []}
    try:
        with Path(path).open("ab", buffering=0) as file:
            if file.write(line) == len(line):
                return
    except OSError:
        pass
    with contextlib.suppress(OSError), Path(path).with_name("reserve.jsonl").open("r+b", buffering=0) as file:
        file.write((json.dumps(short, default=str) + "\n").encode())


if __name__ == "__main__":
    main()
