"""A run for the kernel of a browser test: its state is a function of the clock, and of who stops it."""

from __future__ import annotations

import threading
import time

from nbddp.run.state.fold import fold_all
from nbddp.run.state.state import RunState
from tests.widget.runs import events, step_events

LOG = (
    "\x1b[32mgreen\x1b[0m\n<script>document.title = 'taken over'</script>\n 10%|#\r 90%|#########\n" + "x" * 3000 + "\n"
)


class TimedRun:
    """Fifty steps a second, for as long as nobody stops it."""

    def __init__(self) -> None:
        self.began = time.time()
        self.stopped: list[str] = []
        self.over = threading.Event()
        self._steps = 0
        self._state = fold_all(RunState(), [event | {"time": self.began} for event in events(0)])

    @property
    def state(self) -> RunState:
        steps = int((time.time() - self.began) * 50)
        for step in range(self._steps, 0 if self.over.is_set() else steps):
            happened = step_events(step, world=2, epochs=1000, per_epoch=30)
            self._state = fold_all(self._state, [event | {"time": self.began + step / 50} for event in happened])
        self._steps = max(self._steps, steps)
        if self.over.is_set() and not self._state.over:
            ending = {"event": "exit", "status": 0 if self.stopped == ["epoch"] else 1}
            asked = [{"event": "stopping", "grade": grade} for grade in self.stopped]
            happened = ({"rank": None, "time": time.time()} | event for event in (*asked, ending))
            self._state = fold_all(self._state, happened)
        return self._state

    def log_tail(self, rank: int) -> str:
        return LOG + "".join(f"rank {rank}, second {second}\n" for second in range(int(time.time() - self.began)))

    def printed(self, *, last: bool) -> list[str]:
        return ["all is printed"] if last else []

    def stop(self, grade: str) -> None:
        self.stopped.append(grade)
        self.over.set()
