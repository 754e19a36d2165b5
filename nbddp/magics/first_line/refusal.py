"""How a cell says no: in sentences, without a traceback of nbddp's own. The cell fails, so that "Run all" stops."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from nbddp.cli.parse import Refusal
from nbddp.cli.show import count
from nbddp.diagnostics import CannotExport
from nbddp.notebook import CannotRead
from nbddp.output import CannotWrite
from nbddp.run.folder.errors import CannotVerify, LaunchFailed, NoResult, NoSuchRun

REFUSALS = (CannotExport, CannotRead, CannotVerify, CannotWrite, LaunchFailed, NoResult, NoSuchRun, Refusal)
Error = TypeVar("Error", bound=BaseException)


class RunStopped(Exception):
    """The run was stopped before its end, so that nothing came back."""


def need_folder() -> None:
    """Runs, scripts and modules are looked for in the working directory, which somebody may have deleted."""
    try:
        Path.cwd()
    except FileNotFoundError:
        raise Refusal(
            "The kernel's working directory no longer exists: change to another one with os.chdir()."
        ) from None


def in_words(error: Error) -> Error:
    """The same error, which IPython then shows by its text alone."""
    error._render_traceback_ = lambda: _text(error).split("\n")  # type: ignore[attr-defined]  # IPython's own protocol
    return error


def _text(error: BaseException) -> str:
    if isinstance(error, CannotExport):
        return f"{error}\n\nThis cell cannot be trained on several processes: {count(error.diagnostics)}."
    if isinstance(error, REFUSALS):
        return str(error)
    return f"{type(error).__name__}: {error}"
