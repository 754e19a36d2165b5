"""`--tensorboard`: the curves of a run written as scalars beside it, by a process that the training never meets.

It reads what every view reads, so that TensorBoard shows the numbers that the widget shows.
"""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

from nbddp.run.folder.folder import RunFolder
from nbddp.run.log.event_files import EventReader
from nbddp.run.log.reading import LogReader
from nbddp.run.state.curve import Curve
from nbddp.run.state.events import append
from nbddp.run.state.fold import fold
from nbddp.run.state.shown import drawn_curves
from nbddp.run.state.state import Event, RunState

EVERY = 0.5  # seconds


class Scalars:
    """A point of a curve for each that an event has added."""

    def __init__(self, folder: RunFolder) -> None:
        from tensorboard.summary.writer.event_file_writer import (  # type: ignore[import-untyped, unused-ignore]
            EventFileWriter,
        )

        self._events, self._log = EventReader(folder), LogReader(folder, 0)
        self._state = RunState()
        self._writer: Any = EventFileWriter(str(folder.scalars), flush_secs=2)

    def catch_up(self) -> None:
        """All that is there by now."""
        while events := [*self._events.read(), *self._log.read()]:
            self._take(events)

    def close(self) -> None:
        self._take([*self._events.finish(), *self._log.finish()])
        self._writer.close()

    def _take(self, events: list[Event]) -> None:
        for event in events:
            before, self._state = self._state, fold(self._state, event)
            if self._state.curves is not before.curves or self._state.gauges is not before.gauges:
                self._write({**before.curves, **before.gauges})

    def _write(self, before: dict[str, Curve]) -> None:
        for key, curve in drawn_curves(self._state).items():
            if curve.last is not None and curve is not before.get(key):
                self._put(f"{'gpu' if curve.x == 'second' else curve.x}/{_name(curve)}", *curve.last)

    def _put(self, tag: str, x: float, value: float) -> None:
        from tensorboard.compat.proto.event_pb2 import Event as Record  # type: ignore[import-untyped, unused-ignore]
        from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped, unused-ignore]

        step = int(x) if x == int(x) else self._state.step  # within an epoch, by the step
        summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
        self._writer.add_event(Record(wall_time=self._state.updated or 0.0, step=step, summary=summary))


def _name(curve: Curve) -> str:
    return f"{curve.name} {curve.source}" if curve.x == "second" else curve.name


def main(path: str, watched: int) -> None:
    """Until this process has gone, or somebody asks for an end; what is there by then is written."""
    folder, asked = RunFolder(Path(path)), threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: asked.set())
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    try:
        scalars = Scalars(folder)
        over = False
        while not over:
            over = asked.wait(EVERY) or not _lives(watched)
            scalars.catch_up()
        scalars.close()
    except Exception as error:  # noqa: BLE001 -- whatever it is: the training goes on without
        append(folder, "warning", message=f"The scalars for TensorBoard could not be written: {error}")


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
