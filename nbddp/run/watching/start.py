"""The script's code as nbddp runs it, in its main process and in each that this one starts."""

from __future__ import annotations

import builtins
import contextlib
import os
import runpy
import sys
from pathlib import Path
from types import CodeType
from typing import Any

from nbddp.deep_stack import with_room
from nbddp.run.watching import tree
from nbddp.run.watching.settings import Settings
from nbddp.run.watching.watcher import Watcher
from nbddp.run.watching.written import NAME
from nbddp.watch_points import WatchPoint, from_json

POINTS = "NBDDP_WATCH"  # the file with the points; the script lies beside it
Compiled = tuple[CodeType, int, int]  # with how many watch points, and how many of them have no place any more
COMPILED: dict[str, Compiled] = {}  # by the script's path: in a warm start, its main process hands it to the ranks


def code_of(script: str, *, spawned: bool = False) -> CodeType:
    """Compiled under its own name, with what is watched in it; as it is, where nothing is known of that."""
    if script not in COMPILED:
        COMPILED[script] = _compiled(script)
    code, points, lost = COMPILED[script]
    if lost and not spawned:
        print(f"The script was changed since its export: {lost} of {points} places are not watched.", file=sys.stderr)
    if points:
        setattr(builtins, NAME, Watcher(Settings.of()))
    return code


def _compiled(script: str) -> Compiled:
    source = Path(script).read_bytes()
    points = _points()
    if not points:
        return compile(source, script, "exec", dont_inherit=True), 0, 0
    module, lost = tree.watched(source.decode(), script, points)
    return with_room(lambda: compile(module, script, "exec", dont_inherit=True)), len(points), lost


def rehearse() -> None:
    """Compile something, once: in a forked process the first time takes three times as long, as it copies the pages."""
    file = Path(tree.__file__)
    compile(tree.watched(file.read_text(encoding="utf-8"), str(file), ())[0], str(file), "exec", dont_inherit=True)


def _points() -> tuple[WatchPoint, ...]:
    with contextlib.suppress(KeyError, OSError, ValueError, TypeError):
        return from_json(Path(os.environ[POINTS]).read_text(encoding="utf-8"))
    return ()


def enter_spawned() -> None:
    """Have `multiprocessing` run the script's watched code where it runs the script again in a new process."""
    original = runpy.run_path

    def run_path(path_name: str, init_globals: Any = None, run_name: str | None = None) -> dict[str, Any]:
        if run_name != "__mp_main__" or POINTS not in os.environ:
            return original(path_name, init_globals, run_name)
        scope = {"__name__": run_name, "__file__": path_name, "__builtins__": builtins, "__spec__": None,
                 "__doc__": None, "__loader__": None, "__package__": "", "__cached__": None}  # fmt: skip
        exec(code_of(path_name, spawned=True), scope)
        return scope

    runpy.run_path = run_path


def has_told(error: BaseException) -> bool:
    """Whether a rank in this very process has reported it."""
    watcher = getattr(builtins, NAME, None)
    return watcher is not None and watcher.told is error
