"""What a supervisor may have around it: a server that forks its ranks, a job of an engine that it runs in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from nbddp.run.log.hearing import Hearing


class RankServer(Protocol):
    """Forks ranks when the script asks for them (a warm start)."""

    def watched(self) -> list[int]: ...
    def private(self) -> list[int]: ...
    def answer(self, private: Iterable[int]) -> None: ...
    def reaped(self, pid: int, status: int) -> None: ...
    def dismiss(self) -> None: ...


class Job(Protocol):
    """Of an engine, in which this process runs: its ranks are on other machines as well."""

    def end_ranks(self) -> None: ...
    def notice(self) -> None:
        """The engine says that it will end soon."""

    def is_late(self) -> bool:
        """Whether there is no more time to wait for the end of the epoch."""

    def why_again(self, status: int | None, hearing: Hearing) -> str:
        """Why it is to be started once more, where it is."""

    def start_again(self) -> bool: ...
    def end(self, *, paused: bool) -> dict[str, object]:
        """What the engine knows of its end."""
