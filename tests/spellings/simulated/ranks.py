"""Ranks without processes: threads of which one runs at a time, from one exchange with the others to the next.

A rank that waits for others that have ended, or that are at another exchange, would wait for ever on real processes:
that is found at once, without any clock.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import torch


class Apart(RuntimeError):
    """The ranks would wait for each other for ever."""


class Ranks:
    """`exchange` is what a rank calls; `run` has all of them run."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.current = 0
        self.turns = [threading.Semaphore(0) for _ in range(number)]
        self.arrived: dict[int, tuple[str, Any]] = {}
        self.met: list[Any] = []
        self.ended: set[int] = set()
        self.failure: BaseException | None = None
        self.random = [_random_numbers()] * number
        self.modules: list[Any] = [None] * number

    def run(self, work: Callable[[int], None]) -> None:
        threads = [threading.Thread(target=self._rank, args=(rank, work), daemon=True) for rank in range(self.number)]
        for thread in threads:
            thread.start()
        self.turns[0].release()
        for thread in threads:
            thread.join()
        if self.failure is not None:
            raise self.failure

    def exchange(self, kind: str, value: Any) -> list[Any]:
        """What all ranks have brought to this exchange, by rank."""
        rank = self.current
        self.arrived[rank] = kind, value
        if self.ended:
            self.failure = self.failure or Apart(f"rank {rank} waits in {kind}, rank {min(self.ended)} has ended")
        elif len(self.arrived) == self.number:
            kinds = {kind for kind, _ in self.arrived.values()}
            if len(kinds) > 1:
                self.failure = self.failure or Apart(f"the ranks are at unlike exchanges: {sorted(kinds)}")
            self.met = [self.arrived[r][1] for r in range(self.number)]
            self.arrived = {}
        self._leave(rank)
        self.turns[rank].acquire()
        self._enter(rank)
        return self.met

    def _rank(self, rank: int, work: Callable[[int], None]) -> None:
        self.turns[rank].acquire()
        try:
            self._enter(rank)
            work(rank)
        except BaseException as error:  # noqa: BLE001 -- of the script, whatever it is: it is the test's
            self.failure = self.failure or error
        self.ended.add(rank)
        if self.arrived and self.failure is None:
            self.failure = Apart(f"rank {rank} has ended, rank {min(self.arrived)} waits in {self._waiting()}")
        self._leave(rank)

    def _waiting(self) -> str:
        return next(iter(self.arrived.values()))[0]

    def _enter(self, rank: int) -> None:
        if self.failure is not None:
            raise self.failure
        self.current = rank
        _set_random_numbers(self.random[rank])
        if self.modules[rank] is not None:  # where pickle looks for the classes of this process
            sys.modules[self.modules[rank].__name__] = self.modules[rank]

    def _leave(self, rank: int) -> None:
        self.random[rank] = _random_numbers()
        waiting = [(rank + step) % self.number for step in range(1, self.number + 1)]
        following = next((r for r in waiting if r not in self.ended), None)
        if following is not None:
            self.turns[following].release()


def _random_numbers() -> tuple[Any, ...]:
    return random.getstate(), np.random.get_state(), torch.get_rng_state()


def _set_random_numbers(state: tuple[Any, ...]) -> None:
    random.setstate(state[0])
    np.random.set_state(state[1])
    torch.set_rng_state(state[2])
