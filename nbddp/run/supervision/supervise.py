"""The process that watches over a run: starts the script, waits, ends everything when it must, writes how it ended.

It leads the run's session, imports no torch of its own, and needs nobody: the kernel that started the run may go.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterable

from nbddp.run.folder.folder import RunFolder
from nbddp.run.log.hearing import Hearing
from nbddp.run.processes.fork import STOPPING, adopt_orphans, end_with_parent, fork
from nbddp.run.processes.process import Entry, ProcessId
from nbddp.run.processes.session import end, members
from nbddp.run.state.events import append
from nbddp.run.supervision.around import Job, RankServer
from nbddp.run.supervision.causes import cause_of, memory_kills, name_of
from nbddp.run.supervision.stacks import ask_for_stacks
from nbddp.run.supervision.start_meter import become_meter, become_scalars
from nbddp.run.supervision.ties import Ties
from nbddp.run.supervision.warden import Warden, start_warden

TICK = 0.25  # seconds between two looks
LINGER = 5.0  # seconds that helpers of a script which ended well may take to finish


class Supervisor:
    """One run, from the start of its main process to the last event."""

    def __init__(
        self,
        folder: RunFolder,
        me: ProcessId,
        *,
        quiet: float,
        grace: float,
        ranks: RankServer | None = None,
        job: Job | None = None,
    ) -> None:
        self.folder, self.me, self.quiet, self.grace, self.ranks, self.job = folder, me, quiet, grace, ranks, job
        self.hearing = Hearing(folder)
        self.ties = Ties(folder)
        self.statuses: dict[int, int] = {}
        self.asked_to_stop = False
        self.next_report = quiet
        self.kills_before = memory_kills()
        self.main = 0
        self.meter = 0
        self.ended_it = False
        self.warden: Warden | None = None
        self.wake: tuple[int, int] = os.pipe()

    def run(self, start: Callable[[Iterable[int]], int]) -> None:
        """Have the script started, without these descriptors, and stay until all is over."""
        adopt_orphans()
        self._listen_to_signals()
        self.main = start(self._private())
        if self.job is None:  # else its engine leaves nothing behind, and may start it again
            self.warden = start_warden(self.folder, self.me, self._private())
        if self.folder.scalars.is_dir():
            self._beside(lambda: become_scalars(self.folder, self.main))
        while self.main not in self.statuses and not self._must_end():
            self._look()
            self._report_silence()
            self._watch_gpus()
        self._finish()

    def _private(self) -> list[int]:
        """Descriptors that no child may keep."""
        return [
            *self.wake,
            self.ties.place,
            *([self.warden.pipe] if self.warden else []),
            *(self.ranks.private() if self.ranks else []),
        ]

    def _listen_to_signals(self) -> None:
        for descriptor in self.wake:
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(self.wake[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        if self.job is not None:
            job = self.job
            signal.signal(signal.SIGUSR1, lambda *_: job.notice())
        for number in STOPPING:
            signal.signal(number, self._stop)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)

    def _stop(self, *_: object) -> None:
        self.asked_to_stop = True

    def _look(self, wait: float = TICK) -> None:
        """Sleep until something happens, a child's end above all; then take notice of all that has."""
        asking = self.ranks.watched() if self.ranks else []
        ready, _, _ = select.select([self.wake[0], *asking], [], [], wait)
        if self.wake[0] in ready:
            os.read(self.wake[0], 4096)
        if self.ranks and not set(asking).isdisjoint(ready):
            self.ranks.answer(self._private())
        self._reap()
        self.hearing.listen()
        if self.ranks and (self.hearing.ranks or self.main in self.statuses):  # all that are wanted have been asked for
            self.ranks.dismiss()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.statuses[pid] = os.waitstatus_to_exitcode(status)
            if self.ranks:
                self.ranks.reaped(pid, self.statuses[pid])

    def _must_end(self) -> bool:
        """Whether somebody wants it to end, or a rank has failed and the rest has not followed by itself."""
        self.asked_to_stop |= self.ties.broken()
        if self.job is not None:
            self.asked_to_stop |= self.hearing.grade in {"now", "kill"}
            return self.asked_to_stop or self.job.is_late() or self.hearing.a_rank_is_gone(self.statuses)
        if self.asked_to_stop and self.hearing.grade is None:
            append(self.folder, "stopping", grade="now", by="signal" if self.ties.has_owner() else "owner")
        return self.asked_to_stop or self.hearing.a_rank_is_gone(self.statuses)

    def _watch_gpus(self) -> None:
        """Once all ranks have told which they use."""
        if self.meter or not self.hearing.gpus:
            return
        self.meter = self._beside(lambda: become_meter(self.folder, self.hearing.gpus))

    def _beside(self, become: Callable[[], object]) -> int:
        """A process that ends with this one, at the latest."""
        pid = fork(close=self._private())
        if pid:
            return pid
        try:
            end_with_parent(self.me.pid)
            become()
        finally:
            os._exit(127)

    def _report_silence(self) -> None:
        silent = self.hearing.silent_for()
        if silent < self.quiet and self.next_report > self.quiet:
            self.next_report = self.quiet
            append(self.folder, "heard")
        elif silent >= self.next_report:
            self.next_report = silent * 2
            append(self.folder, "hang", quiet=round(silent, 1), stacks=ask_for_stacks(self.folder, self._named()))

    def _named(self) -> dict[str, int]:
        """Whom to ask for a stack: the ranks, or the main process before there are any."""
        return {str(rank): process.pid for rank, process in self.hearing.ranks.items()} or {"main": self.main}

    def _others(self) -> list[Entry]:
        spared = {self.me.pid, self.warden.pid if self.warden else 0}
        return [entry for entry in members(self.me, self.folder.path, inside=True) if entry.pid not in spared]

    def _finish(self) -> None:
        """Leave no process behind, then write the last event."""
        if self.meter and self.meter not in self.statuses:
            os.kill(self.meter, signal.SIGKILL)
        until = time.monotonic() + LINGER
        while self.statuses.get(self.main) == 0 and self._others() and time.monotonic() < until:
            self._look(0.05)
            until = 0.0 if self.ties.broken() else until
        self.ended_it = self.main not in self.statuses
        if self.job is not None and self.ended_it:
            self.job.end_ranks()
        left = end(self._others, self.ties.grace(self.grace), between=lambda: self._look(0.0))
        self._look(0.0)
        if self.warden:
            self.warden.dismiss()
        if self.job is not None and self._goes_on(self.job):
            return
        with contextlib.suppress(OSError):
            self.folder.start.unlink(missing_ok=True)  # as large as the model, and loaded by now
        append(self.folder, "exit", **self._exit(), left=[entry.pid for entry in left])

    def _goes_on(self, job: Job) -> bool:
        why = "" if self.hearing.grade in {"now", "kill"} else job.why_again(self.statuses.get(self.main), self.hearing)
        if why:
            append(self.folder, "requeue", why=why)
        return bool(why) and job.start_again()

    def _exit(self) -> dict[str, object]:
        """The main process's status; where it was ended here because a rank had failed, that of a failure."""
        code = self.statuses.get(self.main)
        if self.ended_it and not self.asked_to_stop:
            code = 1
        name = name_of(-code) if code is not None and code < 0 else None
        by = self.hearing.died_by or (None if self.ended_it else name)
        cause = cause_of(by, self.kills_before, memory_kills())
        status = code if code is None or code >= 0 else None
        found: dict[str, object] = {"status": status, "signal": name, "cause": cause}
        if self.job and (code != 0 or self.hearing.paused):  # one that was paused has ended well, and is not done
            found |= {"status": status or None, **self.job.end(paused=self.hearing.paused)}
        return found
