"""A training in the kernel as a notebook holds it: like a run on several processes, as far as there is anything."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

from nbddp.inkernel.progress import Progress
from nbddp.magics.first_line.refusal import in_words
from nbddp.magics.runs.cell_run import frame_of, need_grade, need_seconds
from nbddp.run.state.state import RunState
from nbddp.widget.words import count

# What runs on processes have besides, and where it is here.
OF_PROCESSES = {
    "log": "the output of this run is below its cell.",
    "load": "what this run has trained is in the notebook's variables.",
    "result": "what this run has trained is in the notebook's variables.",
    "restore": "what this run has trained is in the notebook's variables.",
    "script": "this run executed the cell itself; %ddp export writes its script.",
}


class KernelRun:
    """`run.history`, `run.frame`, `run.state`, `run.stop("epoch")`. What it trained is where it always was."""

    def __init__(self, name: str, progress: Progress) -> None:
        self.name = name
        self._progress = progress

    @property
    def state(self) -> RunState:
        """What is known of it now."""
        return self._progress.state

    @property
    def history(self) -> list[dict[str, float]]:
        """A row for each epoch; where the cell sums up nothing, what its printed lines say."""
        state = self.state
        return [dict(row) for row in state.history or state.printed]

    @property
    def frame(self) -> Any:
        """The history as a pandas frame."""
        return frame_of(self.history)

    def stop(self, grade: str = "now") -> None:
        """ "epoch" ends it after the epoch that it is in, anything else at once, as an interrupt does."""
        need_grade(grade)
        if self.state.over:
            return
        self._progress.put("stopping", grade="epoch" if grade == "epoch" else "now")
        if grade == "epoch":
            self._progress.stop_asked = True
        else:
            interrupt()

    def wait(self, timeout: float | None = None) -> RunState:
        """The state: by the time that another cell can ask, the training has ended."""
        need_seconds(timeout)
        return self.state

    def log_tail(self, rank: int) -> Sequence[str]:  # noqa: ARG002 -- views ask for the log of a rank
        """Nothing: what the cell prints stands under the cell."""
        return ()

    def printed(self, *, last: bool) -> Sequence[str]:  # noqa: ARG002 -- as above
        return ()

    def __getattr__(self, name: str) -> NoReturn:
        error = AttributeError(f"this run has no {name!r}", name=name, obj=self)
        if name in OF_PROCESSES:
            error = AttributeError(
                f"run.{name} exists only for runs on processes: {OF_PROCESSES[name]}", name=name, obj=self
            )
        raise in_words(error)

    def __repr__(self) -> str:
        state = self.state
        epochs = f", {count(len(state.history), 'epoch')}" if state.history else ""
        return f"<Run {self.name}: {state.phase}{epochs}>"


def interrupt() -> None:
    """As the front end's button does; also where the cell waits for something."""
    main = threading.main_thread().ident
    if sys.platform != "win32" and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()
