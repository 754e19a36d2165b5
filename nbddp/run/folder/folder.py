"""Where a run lives on disk. One object knows every path, so that none is spelt twice."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from nbddp.run.folder.files import text_of, write_whole

HOME = ".nbddp"
RESERVED = 16384  # bytes set aside, so that a run on a full disk can still say how it ended


@dataclass(frozen=True)
class RunFolder:
    """`.nbddp/runs/<time>-<name>/`: everything of one run. Nothing in it is trusted as code when read back."""

    path: Path

    @property
    def name(self) -> str:
        """What the user calls the run by."""
        return self.path.name

    @property
    def script(self) -> Path:
        """The script that runs, byte for byte the one that an export would write."""
        return self.path / "script.py"

    @property
    def command(self) -> Path:
        """How it was started, where, and on what."""
        return self.path / "command.json"

    @property
    def about(self) -> Path:
        """What a person calls the run, and has noted about it."""
        return self.path / "about.json"

    @property
    def watch(self) -> Path:
        """What is watched in the script, and where."""
        return self.path / "watch.json"

    @property
    def line_map(self) -> Path:
        """Which line of the script is which line of which cell."""
        return self.path / "line_map.json"

    @property
    def events(self) -> Path:
        """What ranks and launcher report, one JSON object a line."""
        return self.path / "events.jsonl"

    @property
    def event_files(self) -> list[Path]:
        """All such files: of a job, each machine that takes part writes one of its own, for appending to a file is
        atomic on one machine only."""
        return [self.events, *sorted(self.path.glob("events.*.jsonl"))]

    def own_events(self) -> Path:
        """The one that this machine writes."""
        return self.path / f"events.{platform.node()}.jsonl" if self.job.exists() else self.events

    @property
    def job(self) -> Path:
        """Which job of which engine it is; missing for a run of the machine that has started it."""
        return self.path / "job.json"

    @property
    def batch(self) -> Path:
        """What the engine was given."""
        return self.path / "job.sbatch"

    @property
    def job_output(self) -> Path:
        """What the job prints outside of its ranks."""
        return self.logs / "job.out"

    @property
    def reserve(self) -> Path:
        """Room taken beforehand for the last events, should the disk be full by then."""
        return self.path / "reserve.jsonl"

    @property
    def logs(self) -> Path:
        """A file for each rank."""
        return self.path / "logs"

    def log(self, rank: int) -> Path:
        """What this rank prints."""
        return self.logs / f"rank{rank}.log"

    @property
    def logged_ranks(self) -> list[int]:
        """Those that have printed something."""
        names = (path.stem.removeprefix("rank") for path in self.logs.glob("rank*.log"))
        return sorted(int(name) for name in names if name.isdecimal())

    @property
    def stdout(self) -> Path:
        """What the main process prints, before and beside the ranks."""
        return self.logs / "main.out"

    @property
    def stderr(self) -> Path:
        """The same for its errors."""
        return self.logs / "main.err"

    @property
    def supervisor_log(self) -> Path:
        """Empty, unless the process that watches over the run had something to complain about."""
        return self.logs / "supervisor.log"

    @property
    def stacks(self) -> Path:
        """Where ranks write their stack when they are asked what they wait for."""
        return self.path / "stacks"

    @property
    def supervisor(self) -> Path:
        """Which process watches over the run. Created once: who creates it has the run."""
        return self.path / "supervisor.json"

    @property
    def checkpoint(self) -> Path:
        """The latest checkpoint."""
        return self.path / "checkpoint.pt"

    @property
    def result(self) -> Path:
        """What comes back to the kernel."""
        return self.path / "result.pt"

    @property
    def objects(self) -> Path:
        """What has come back whole, since the kernel had no such object; a pickle, which only that kernel reads."""
        return self.path / "objects.pt"

    @property
    def kernel(self) -> Path:
        """The names that the kernel has which waits for the result."""
        return self.path / "kernel.json"

    @property
    def scalars(self) -> Path:
        """What TensorBoard reads; there where it was asked for."""
        return self.path / "tensorboard"

    @property
    def stop(self) -> Path:
        """While this file is there, training ends after the current epoch."""
        return self.path / "stop"

    @property
    def pause(self) -> Path:
        """While this file is there, a job ends after the current epoch and goes back into the queue."""
        return self.path / "pause"

    @property
    def start(self) -> Path:
        """The kernel's own state, to start from."""
        return self.path / "start.pt"

    @property
    def snapshot(self) -> Path:
        """Values of the kernel that the script takes instead of making them; a pickle."""
        return self.path / "snapshot.pt"

    def script_digest(self) -> str:
        """By which a change of the script is seen."""
        return sha256(self.script.read_bytes()).hexdigest()

    def read_job(self) -> dict[str, Any]:
        """Nothing where it is none."""
        return _facts_in(self.job)

    def write_command(self, facts: Mapping[str, Any]) -> None:
        """Keep how it was started. Environment variables are not among the facts: they may hold secrets."""
        write_whole(self.command, json.dumps(facts, indent=2, default=str) + "\n")

    def read_command(self) -> dict[str, Any]:
        """The same, or nothing where the file is missing or damaged."""
        return _facts_in(self.command)


def _facts_in(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(text_of(path))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}
