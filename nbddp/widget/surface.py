"""Where a run is shown: a widget in a notebook, lines of text anywhere else."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TextIO

from nbddp.run.state.shown import drawn_curves
from nbddp.run.state.state import RunState
from nbddp.sentence import sentence
from nbddp.widget.lines import changes, line
from nbddp.widget.notices import for_page, notices
from nbddp.widget.subject import Subject
from nbddp.widget.summary import mimebundle
from nbddp.widget.view import facts, series

Logs = Mapping[int, Sequence[str]]
LINE_EVERY = 10.0  # seconds, while a long epoch has nothing else to say


class Printed(Protocol):
    """The lines that rank 0 has printed since this was asked before."""

    def __call__(self, *, last: bool) -> Iterable[str]: ...


class Surface(Protocol):
    """A place that shows one run."""

    def show(self, state: RunState, logs: Logs, /, *, last: bool = False) -> None:
        """Bring it up to date, for the last time where that is said."""

    def trouble(self, text: str) -> None:
        """Nothing more will be shown, and why."""


class Shown(Protocol):
    """What a surface asks of a run."""

    @property
    def state(self) -> RunState: ...

    @property
    def printed(self) -> Printed: ...


def open_surface(run: Shown, subject: Subject, on_stop: Callable[[str], object], *, plain: bool = False) -> Surface:
    """The best there is here, shown in the running cell's output."""
    if plain or not load_widget():
        return InText(subject, run.printed)
    return InNotebook(run.state, subject, on_stop)


def load_widget() -> bool:
    """Whether there is one here. Imported ahead it is a tenth of a second that no run then waits for.

    Others' modules are imported where the user's own imports are, never in a thread beside them.
    """
    if kernel_shell() is None:
        return False
    try:
        importlib.import_module("nbddp.widget.live")
    except Exception:  # noqa: BLE001 -- not installed, or broken: a run is then shown as text
        return False
    return True


def kernel_shell() -> Any:
    """IPython's shell where it serves a kernel, else None. IPython is not imported to find that out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if getattr(shell, "kernel", None) is not None else None


class InNotebook:
    """The widget while the run lasts, then the summary: a saved file has no kernel to draw a widget from."""

    def __init__(self, state: RunState, subject: Subject, on_stop: Callable[[str], object]) -> None:
        from IPython.display import display

        from nbddp.widget.live import RunWidget

        self.subject = subject
        self._on_stop = on_stop
        self._complaints: list[dict[str, Any]] = []
        self.widget = RunWidget(self._stop, facts(state, subject, time.time()), text=line(state, time.time()))
        self.handle: Any = display(self.widget, display_id=True)  # type: ignore[no-untyped-call]

    def show(self, state: RunState, logs: Logs, /, *, last: bool = False) -> None:
        now = facts(state, self.subject, time.time())
        now["notices"] = [*self._complaints, *now["notices"]]
        self.widget.show(now, series(drawn_curves(state)), logs, time.monotonic(), last=last)
        if state.over and self.handle is not None:
            self.handle.update(mimebundle(state, self.subject, logs), raw=True)

    def trouble(self, text: str) -> None:
        self._complain(text)
        self.widget.facts = {**self.widget.facts, "notices": [*self._complaints]}

    def _stop(self, grade: str) -> None:
        try:
            self._on_stop(grade)
        except Exception as problem:  # noqa: BLE001  whoever pressed the button must hear of it, whatever it is
            self._complain(sentence("Stopping did not work: %1", problem))

    def _complain(self, text: str) -> None:
        self._complaints.append(for_page({"level": "error", "text": text, "more": ""}))


class InText:
    """What rank 0 prints, a line for each phase, epoch and thing to say, and one now and then in a long epoch."""

    def __init__(self, subject: Subject, printed: Printed, stream: TextIO | None = None) -> None:
        self.subject = subject
        self._printed = printed
        self._stream = stream
        self._before: RunState | None = None
        self._due = 0.0
        self._print(f"{one['level']}: {one['text']}" for one in notices(RunState(), subject))

    def show(self, state: RunState, _logs: Logs, /, *, last: bool = False) -> None:
        self._print(self._printed(last=last))
        said = list(changes(self._before, state, self.subject))
        if not said and (last or time.monotonic() >= self._due):
            said = [line(state, time.time())]
        if said:
            self._print(said)
            self._due = time.monotonic() + LINE_EVERY
        self._before = state

    def trouble(self, text: str) -> None:
        self._print([text])

    def _print(self, lines: Iterable[str]) -> None:
        for text in lines:
            print(text, file=self._stream or sys.stdout, flush=True)
