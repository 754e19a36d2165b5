"""What sbatch's file ends in: the supervisor of a run, on the job's first node, whose main process is srun."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from nbddp.run.engines.known import JobFacts
from nbddp.run.engines.slurm.answers import as_printed, why_it_ended
from nbddp.run.engines.slurm.asking import about, called
from nbddp.run.engines.slurm.batch import notice, srun_words
from nbddp.run.engines.slurm.nodes import unheard_nodes, wait_for_a_lost_node
from nbddp.run.folder.folder import RunFolder
from nbddp.run.log.hearing import Hearing
from nbddp.run.processes.process import ProcessId
from nbddp.run.start.cold import start_main
from nbddp.run.state.events import append
from nbddp.run.supervision.causes import OUT_OF_MEMORY
from nbddp.run.supervision.culprit import last_lines
from nbddp.run.supervision.leader import take
from nbddp.run.supervision.supervise import Supervisor

SPARED = 0.3  # of the notice, for ending the ranks and for SLURM; until then it is waited for the end of the epoch
UNTIL_ENDED = 120.0  # seconds that SLURM may take to end a job that was put back into the queue
EDITED = "script.py in the run's folder was changed while the job was queued: it runs as it is now."
NOT_AGAIN = (
    "It made room, with a checkpoint written, and SLURM has not started it again: --resume {checkpoint} continues it."
)
TOO_SHORT = (
    "It reached its time limit before a checkpoint was written, so starting it again would not get further: ask for "
    "more with --time."
)


def main(path: str) -> None:
    """In a job of SLURM, whose shell this process takes the place of."""
    folder, attempt = RunFolder(Path(path)), int(os.environ.get("SLURM_RESTART_COUNT") or 0)
    number, nodes = os.environ["SLURM_JOB_ID"], os.environ.get("SLURM_JOB_NODELIST", "")
    take(
        folder, lambda me: _supervise(folder, me, number, attempt), lambda: None,
        attempt=attempt, job=number, nodes=nodes, host=os.uname().nodename,
    )  # fmt: skip


def _supervise(folder: RunFolder, me: ProcessId, number: str, attempt: int) -> None:
    how = folder.read_command()
    if how.get("script") not in {None, folder.script_digest()}:
        append(folder, "warning", message=EDITED)
    folder.pause.unlink(missing_ok=True)
    if attempt and folder.checkpoint.exists():
        os.environ["NBDDP_RESUME"] = str(folder.checkpoint)
    os.environ.pop("SLURM_RESTART_COUNT", None)  # a script that writes checkpoints of its own would go on from them too
    job = InJob(folder, number, attempt, str(how.get("time", "")))
    words = srun_words(how["argv"], tasks=int(how.get("nproc") or 1))
    supervisor = Supervisor(folder, me, quiet=how["quiet"], grace=how["grace"], job=job)
    supervisor.run(lambda private: start_main(folder, words, private))
    os._exit(min(abs(supervisor.statuses.get(supervisor.main, 1)), 255))  # the job's own


class InJob:
    """The job, seen from inside."""

    def __init__(self, folder: RunFolder, number: str, attempt: int, limit: str) -> None:
        self.folder, self.number, self.attempt = folder, number, attempt
        self.spared = max(5.0, notice(limit) * SPARED)
        self.patience = notice(limit) - self.spared  # where SLURM does not say when it ends
        self.noticed: float | None = None
        self.until: float | None = None
        self.began = time.time()

    def notice(self) -> None:
        self.noticed = self.noticed or time.monotonic()
        self.folder.pause.touch()

    def is_late(self) -> bool:
        """SLURM's notice may come a minute before it is due: what counts is when the job ends."""
        if self.noticed is not None and self.until is None:
            facts = self._facts()
            ends = facts.ends if facts is not None else None
            self.until = time.time() + self.patience if ends is None else ends - self.spared
        return self.until is not None and time.time() > self.until

    def end_ranks(self) -> None:
        called(["scancel", "--signal=KILL", f"{self.number}.0"], within=20.0)

    def why_again(self, status: int | None, hearing: Hearing) -> str:
        """Preempted, near its time limit, or short of a node; not where it has ended, failed, or was cancelled."""
        if status == 0 and not hearing.paused:
            return ""
        facts = self._facts()
        if facts is not None and facts.is_ending and facts.restarts == self.attempt:
            return ""
        if facts is not None and facts.preempted:
            return "it was preempted by another job"
        if self.noticed is not None:
            return "it came near its time limit" if self._has_progressed() else ""
        if facts is not None and (facts.restarts > self.attempt or facts.state in {"PENDING", "NODE_FAIL"}):
            return "SLURM put it back into the queue"
        if hearing.paused:
            return "SLURM asked it to end"
        if hearing.blamed:
            return ""
        lost = wait_for_a_lost_node(unheard_nodes(hearing, self._printed()), self._warn)
        return f"{lost} failed" if lost else ""

    def start_again(self) -> bool:
        """SLURM then ends this job; until it does nothing else may, or the job would be over."""
        facts = self._facts()
        queued = facts is not None and (facts.restarts > self.attempt or facts.waits)
        if not queued and called(["scontrol", "requeue", self.number]).status != 0:
            append(self.folder, "warning", message="SLURM did not put the job back into the queue.")
            return False
        until = time.monotonic() + UNTIL_ENDED
        while time.monotonic() < until:
            time.sleep(1.0)
        return True

    def end(self, *, paused: bool) -> dict[str, object]:
        facts = self._facts()
        if facts is not None and facts.is_ending:
            facts = as_printed(facts, self.folder.job_output, self.folder.stderr)
            phase = {"phase": "killed"} if facts.state == "CANCELLED" else {}
            return {"cause": why_it_ended(facts, about(self.number).by), **phase}
        if self.noticed is not None and not self._has_progressed():
            return {"cause": TOO_SHORT}
        if paused:
            return {"cause": NOT_AGAIN.format(checkpoint=self.folder.checkpoint)}
        printed = "\n".join(self._printed()).lower()
        return {"cause": OUT_OF_MEMORY} if "oom-kill" in printed or "out of memory" in printed else {}

    def _facts(self) -> JobFacts | None:
        return about(self.number, wait=20.0, fresh=0.5).facts

    def _has_progressed(self) -> bool:
        try:
            return self.folder.checkpoint.stat().st_mtime > self.began
        except OSError:
            return False

    def _printed(self) -> Sequence[str]:
        return last_lines(self.folder, None, 200)

    def _warn(self, text: str) -> None:
        append(self.folder, "warning", message=text)
