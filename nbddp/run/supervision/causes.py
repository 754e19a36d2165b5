"""What a signal that ended a process most likely means, in a sentence."""

from __future__ import annotations

from pathlib import Path
from signal import Signals

MEANINGS = {
    "SIGSEGV": "It crashed in native code; its log has the stack.",
    "SIGBUS": "A mapped file could not be read or written: most likely shared memory (/dev/shm) or the disk is full.",
    "SIGABRT": "Native code stopped the process, as NCCL does after a time-out; its log shows why.",
    "SIGILL": "The CPU does not support an instruction: torch was built for a different CPU.",
    "SIGFPE": "Native code divided by zero.",
    "SIGTERM": "It was told to end: by a scheduler at its time limit, or with `kill`.",
    "SIGINT": "It was interrupted.",
    "SIGXCPU": "It reached its limit of CPU time.",
    "SIGHUP": "Its terminal was closed.",
}
ONE_SAMPLE = (
    "A rank got a single sample, and BatchNorm in training needs at least two: give the DataLoader drop_last=True, or "
    "another batch size."
)
EXPLAINED = {"Expected more than 1 value per channel when training": ONE_SAMPLE}  # a batch that one process would train
OUT_OF_MEMORY = "The system killed it because memory ran out."
PERHAPS_OUT_OF_MEMORY = "It was killed from outside: most likely because memory ran out, or with `kill -9`."


def cause_of(signal: str | None, kills_before: int | None = None, kills_after: int | None = None) -> str:
    """Why a process was ended by this signal; the counts are of the system's out-of-memory kills."""
    if signal is None:
        return ""
    if signal == "SIGKILL":
        counted = kills_before is not None and kills_after is not None and kills_after > kills_before
        return OUT_OF_MEMORY if counted else PERHAPS_OUT_OF_MEMORY
    return MEANINGS.get(signal, "")


def explanation(message: str) -> str:
    """What an error has to do with several processes, where its own words do not tell."""
    return next((why for words, why in EXPLAINED.items() if words in message), "")


def name_of(number: int) -> str:
    """A signal's name, also of those that have only a number."""
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def memory_kills() -> int | None:
    """How many processes the system has killed so far for want of memory; None where it does not count them."""
    try:
        text = Path("/proc/vmstat").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("oom_kill ")), None)
