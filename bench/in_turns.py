"""Trainings that take turns, an epoch each: whatever else the machine does falls on all of them alike.

All have been started; those whose turn it is not are stopped (SIGSTOP). So two epochs that are compared are tenths of a
second apart, and what is compared is the ratio of each such pair. CPU time, of all processes of a training, is what is
left of its speed where others take the cores away.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Epoch:
    seconds: float
    cpu: float


class Lane:
    """One training, in a group of processes of its own; it prints a line with `steps/s` at the end of each epoch."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [*words],
            env={**environment, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.turn()  # the first warms up

    def turn(self) -> Epoch | None:
        """Until its next epoch is over; None when there is none."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGCONT)
        cpu, began = self._cpu(), time.perf_counter()
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "steps/s" in line:
                seconds = time.perf_counter() - began
                os.killpg(self.process.pid, signal.SIGSTOP)
                return Epoch(seconds, self._cpu() - cpu)
        if self.process.wait():
            raise SystemExit(f"{self.process.args} failed")
        return None

    def _cpu(self) -> float:
        """Of the processes that are alive: user and system time."""
        total = 0.0
        with contextlib.suppress(psutil.NoSuchProcess):
            main = psutil.Process(self.process.pid)
            for process in (main, *main.children(recursive=True)):
                with contextlib.suppress(psutil.NoSuchProcess):
                    times = process.cpu_times()
                    total += times.user + times.system
        return total

    def end(self) -> None:
        for word in (signal.SIGKILL, signal.SIGCONT):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, word)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def rounds(
    ways: Mapping[str, tuple[Sequence[str], Mapping[str, str]]], environment: Mapping[str, str]
) -> list[dict[str, Epoch]]:
    """The epochs of all ways, round by round, each round beginning with another."""
    lanes: dict[str, Lane] = {}
    try:
        for name, (words, settings) in ways.items():
            lanes[name] = Lane(words, {**environment, **settings})
        found: list[dict[str, Epoch]] = []
        while True:
            order = list(lanes)
            shift = len(found) % len(order)
            this = {name: lanes[name].turn() for name in (*order[shift:], *order[:shift])}
            epochs = {name: epoch for name, epoch in this.items() if epoch is not None}
            if len(epochs) < len(lanes):
                return found
            found.append(epochs)
    finally:
        for lane in lanes.values():
            lane.end()
