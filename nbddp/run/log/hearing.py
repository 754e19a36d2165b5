"""What the supervisor takes from events and logs: which ranks there are, whether one failed, when one was last heard.

Most events are steps, many a second; they are told apart by a glance and never parsed here.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Mapping
from typing import Any

from nbddp.run.folder.folder import RunFolder
from nbddp.run.log.event_files import EventFiles
from nbddp.run.processes.process import ProcessId, alive, identify
from nbddp.run.state.events import parsed

OF_INTEREST = re.compile(rb'"event": ?"(?:rank|error|died|end|stopping|paused)"')
OF_THE_METER = re.compile(rb'"event": ?"gpus"')  # which speaks on, however silent the ranks are
ENDS = re.compile(rb"\n")
AFTER_AN_ERROR = 2.0  # seconds that the script has to end its other ranks, once one has reported an error
AFTER_A_DEATH = 3.0  # the same, once one is known to have died
AFTER_A_SILENT_END = 10.0  # the same, once one has gone without a word; it may have ended well


class Hearing:
    """Follows the files of one run."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.files = EventFiles(folder)
        if folder.job.exists():  # earlier attempts are over
            for tail in self.files.tails():
                tail.skip_to_last(0)
        self.ranks: dict[int, ProcessId] = {}  # those of this machine, whose processes can be seen
        self.met: dict[int, str] = {}  # all ranks that have told, and the machine of each
        self.gpus: dict[int, dict[str, str]] = {}  # of all ranks, once all have told
        self.ended: set[int] = set()
        self._seen: dict[int, dict[str, str]] = {}
        self.gone: dict[int, float] = {}
        self.failed_at: float | None = None
        self.died_by: str | None = None
        self.grade: str | None = None  # of the stop that was asked for
        self.paused = False
        self.told: set[int] = set()  # ranks that have said why they end
        self.blamed = False  # a rank has failed by itself
        self.logged = 0
        self.heard_at = time.monotonic()

    def listen(self) -> None:
        """Take notice of all that was written since the last time."""
        for tail in self.files.tails():
            while lines := tail.read(ENDS):
                if any(not OF_THE_METER.search(line[:100]) for line in lines):
                    self.heard_at = time.monotonic()
                for line in lines:
                    if OF_INTEREST.search(line[:200]):
                        self._take(parsed(line) or {})
        logged = _bytes_in(self.folder.logs)
        if logged != self.logged:
            self.logged, self.heard_at = logged, time.monotonic()

    def _take(self, event: Mapping[str, Any]) -> None:
        name, rank = event.get("event"), event.get("rank")
        if name == "rank" and isinstance(rank, int):
            self.met[rank] = str(event.get("host", ""))
            here = self.met[rank] in {"", platform.node()}
            if here and (process := identify(int(event.get("pid") or 0))):
                self.ranks[rank] = process
                self._gpu(rank, event)
        elif name == "end" and isinstance(rank, int):
            self.ended.add(rank)
        elif name in {"error", "died"}:
            self.failed_at = self.failed_at or time.monotonic()
            self.told |= {rank} if isinstance(rank, int) else set()
            self.blamed |= not event.get("victim")
            self.died_by = self.died_by or event.get("signal")
        elif name == "stopping":
            self.grade = str(event.get("grade"))
        elif name == "paused":
            self.paused = True

    def _gpu(self, rank: int, event: Mapping[str, Any]) -> None:
        device = str(event.get("device", ""))
        if device.startswith("cuda"):
            self._seen[rank] = {"device": device, "uuid": str(event.get("uuid", ""))}
        if len(self.met) == event.get("world_size"):
            self.gpus = self._seen

    def silent_for(self) -> float:
        """Seconds since anything was last heard of any rank."""
        return time.monotonic() - self.heard_at

    def a_rank_is_gone(self, statuses: Mapping[int, int]) -> bool:
        """Whether one has failed long enough ago that the others will not end by themselves."""
        now = time.monotonic()
        if self.failed_at is not None and now - self.failed_at > AFTER_AN_ERROR:
            return True
        for rank, process in self.ranks.items():
            if rank not in self.gone and rank not in self.ended and not alive(process):
                self.gone[rank] = now
        return any(now - at > self._patience(rank, statuses) for rank, at in self.gone.items())

    def _patience(self, rank: int, statuses: Mapping[int, int]) -> float:
        """How long to wait after this rank has gone: for ever where it is known to have ended well."""
        if rank in self.ended or statuses.get(self.ranks[rank].pid) == 0:
            return float("inf")
        return AFTER_A_DEATH if self.ranks[rank].pid in statuses else AFTER_A_SILENT_END


def _bytes_in(logs: os.PathLike[str]) -> int:
    try:
        with os.scandir(logs) as entries:
            return sum(entry.stat().st_size for entry in entries)
    except OSError:
        return 0
