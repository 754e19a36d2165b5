"""Plays a scene: the command as a user calls it, what is done to its run, and what is there afterwards."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TextIO, TypeVar

import psutil

from nbddp.export import export
from nbddp.notebook import read_notebook
from nbddp.options import Options
from nbddp.run.folder.folders import runs_in
from nbddp.run.folder.line_map import line_map
from nbddp.run.run import Run
from nbddp.run.start.command import Origin, RunOptions
from nbddp.run.start.launch import Helper
from nbddp.run.supervision.leader import leader_of
from nbddp.run.terminal import show
from tests.faults.scenes import Scene

ROOT = Path(__file__).parents[2]
PATIENCE = float(os.environ.get("NBDDP_TEST_PATIENCE", "120"))  # seconds for a scene
MARK = "FAULT_SCENE"  # a variable of the command and of what it starts
T = TypeVar("T")
COMMAND = """\
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background processes do not have
runpy.run_module("nbddp", run_name="__main__")"""
QUIET = 5.0  # seconds without a word that are a silence
LEFT_AFTER = 3.0  # seconds after its end in which the last process has to be gone


@dataclass(frozen=True)
class Played:
    scene: Scene
    output: str
    status: int | None
    seconds: float  # from the fault to the end of the command
    left: tuple[str, ...]  # processes

    @property
    def wrong(self) -> str:
        """What is not as it should be, in words; nothing where all is right."""
        found = [
            "" if re.search(self.scene.says, self.output) else f"does not say {self.scene.says!r}",
            "" if self.scene.status in {None, self.status} else f"ends with {self.status}",
            f"leaves {', '.join(self.left)}" if self.left else "",
            "tells of a defect" if "defect of nbddp" in self.output else "",
            "did not end" if self.status is None else "",
        ]
        return "; ".join(part for part in found if part)

    @property
    def said(self) -> str:
        """The line that says it, else the last."""
        found = re.search(self.scene.says, self.output) if self.scene.says else None
        start = self.output.rfind("\n", 0, found.start()) + 1 if found else 0
        lines = (self.output[start:] if found else self.output.strip()[-300:]).splitlines()
        return (lines[0] if found else lines[-1]) if lines else ""


def play(scene: Scene, place: Path, helper: Helper) -> Played:
    """As a kernel starts runs, with its helper, or by the command where that is what is harmed or what refuses."""
    (place / "notebook.py").write_text(scene.notebook, encoding="utf-8")
    with (place / "output").open("w", 1, "utf-8", "backslashreplace") as file:
        began, status = (_by_command if scene.command else partial(_here, helper=helper))(scene, place, file)
    ended, left = time.time(), _left(place)
    for process in left:
        process.kill()
    output = (place / "output").read_text(encoding="utf-8", errors="replace")
    names = tuple(" ".join(process.info["cmdline"] or ["?"])[:80] for process in left)
    return Played(scene, output, status, max(0.0, ended - (_fault(place) or began)), names)


def _by_command(scene: Scene, place: Path, file: TextIO) -> tuple[float, int | None]:
    words = [sys.executable, "-c", COMMAND, "run", "notebook.py", *scene.options]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", MARK: str(place)}
    began = time.time()
    command = subprocess.Popen(words, cwd=place, stdout=file, stderr=subprocess.STDOUT, env=environ)
    try:
        if scene.act:
            began = _act(scene, place, command)
        return began, command.wait(PATIENCE)
    except (subprocess.TimeoutExpired, AssertionError):
        command.kill()
        command.wait()
        return began, None


def _here(scene: Scene, place: Path, file: TextIO, helper: Helper) -> tuple[float, int | None]:
    notebook = read_notebook(place / "notebook.py")
    script = export(notebook, Options(nproc=2))
    lines = list(line_map(notebook, script.line_map))
    origin = Origin(sys.executable, place, {**os.environ, "OMP_NUM_THREADS": "1"})
    with contextlib.redirect_stdout(file), contextlib.redirect_stderr(file):
        began = time.time()
        options = RunOptions(nproc=2, quiet=QUIET)
        run = Run.start(script.text, "notebook", options, root=place, origin=origin, helper=helper, line_map=lines,
                        watch=script.watch)  # fmt: skip
        late = threading.Timer(PATIENCE, run.stop, ("kill",))
        late.start()
        with ThreadPoolExecutor() as beside:
            acted = beside.submit(_act, scene, place) if scene.act else None
            status = show(run)
            began = acted.result() if acted else began
        late.cancel()
    return began, status if time.time() - began < PATIENCE else None


def _fault(place: Path) -> float | None:
    """When the first process told that something was wrong."""
    for folder in runs_in(place):
        failures = Run(folder).state.failures
        if failures:
            return min(failure.time for failure in failures)
    return None


def _act(scene: Scene, place: Path, command: subprocess.Popen[bytes] | None = None) -> float:
    """Once it trains; the time at which it is done."""
    run = until(lambda: next((Run(folder) for folder in runs_in(place)), None))
    until(lambda: len(run.state.ranks) == 2 and (run.state.step > 4 or run.state.hang))
    now = time.time()
    if command is not None:
        OF_COMMAND[scene.act](command)
    else:
        ACTS[scene.act](run)
    return now


def until(condition: Callable[[], T]) -> T:
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def _left(place: Path) -> list[psutil.Process]:
    """Those of the scene, as their environment tells, that are there some seconds after its end."""
    deadline = time.monotonic() + LEFT_AFTER
    while True:
        found = [process for process in psutil.process_iter(["cmdline"]) if _of(process, place)]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def _of(process: psutil.Process, place: Path) -> bool:
    try:
        own = process.environ().get(MARK) == str(place) or process.cwd() == str(place)
        return own and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _kill(run: Run, *who: str) -> None:
    leader = leader_of(run.folder).pid
    ranks = {number: rank.pid for number, rank in run.state.ranks.items()}
    beside = [entry for entry in run.processes() if entry.parent == leader and entry.pid not in ranks.values()]
    main = next(entry.pid for entry in beside if entry.group == entry.pid)
    warden = [entry.pid for entry in beside if entry.pid != main]
    known = {"rank 0": [ranks[0]], "rank 1": [ranks[1]], "main": [main], "supervisor": [leader], "warden": warden}
    for pid in [pid for name in who for pid in known[name]]:
        os.kill(pid, signal.SIGKILL)


def _interrupt(command: subprocess.Popen[bytes], times: int) -> None:
    for _ in range(times):
        command.send_signal(signal.SIGINT)
        time.sleep(0.03)


def _stand_still(run: Run) -> None:
    pid = run.state.ranks[1].pid
    os.kill(pid, signal.SIGSTOP)
    time.sleep(1.0)
    os.kill(pid, signal.SIGCONT)
    run.stop("now")


def _stop_when_told(run: Run) -> None:
    output = run.folder.path.parents[2] / "output"
    until(lambda: run.state.hang and "No progress" in output.read_text(encoding="utf-8"))
    run.stop("now")


def _harm(run: Run, harm: Callable[[], object]) -> None:
    harm()
    time.sleep(1.0)
    run.stop("now")


ACTS: dict[str, Callable[[Run], object]] = {
    "kill rank 0": lambda run: _kill(run, "rank 0"),
    "kill rank 1": lambda run: _kill(run, "rank 1"),
    "kill main": lambda run: _kill(run, "main"),
    "kill supervisor": lambda run: _kill(run, "supervisor"),
    "kill supervisor and warden": lambda run: _kill(run, "warden", "supervisor"),
    "kill all": lambda run: _kill(run, "warden", "supervisor", "main", "rank 0", "rank 1"),
    "stop rank 1": _stand_still,
    "stop when it hangs": _stop_when_told,
    "stop epoch": lambda run: run.stop("epoch"),
    "stop now": lambda run: run.stop("now"),
    "stop kill": lambda run: run.stop("kill"),
    "delete folder": lambda run: shutil.rmtree(run.folder.path, ignore_errors=True),
    "delete logs": lambda run: _harm(run, lambda: shutil.rmtree(run.folder.logs)),
    "empty events": lambda run: _harm(run, lambda: os.truncate(run.folder.events, 0)),
    "garble events": lambda run: _harm(run, lambda: run.folder.events.write_bytes(b"{\xff\n[3]\n" * 100)),
    "delete script": lambda run: _harm(run, run.folder.script.unlink),
}
OF_COMMAND: dict[str, Callable[[subprocess.Popen[bytes]], object]] = {
    "interrupt": lambda command: _interrupt(command, 1),
    "interrupt twice": lambda command: _interrupt(command, 2),
    "interrupt thrice": lambda command: _interrupt(command, 3),
    "terminate": lambda command: command.terminate(),
    "hang up": lambda command: command.send_signal(signal.SIGHUP),
    "kill command": lambda command: command.kill(),
}
