"""The supervisor of a run that is a Ray job, on the cluster's first machine; its main process starts the ranks."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from nbddp.run.engines.ray.engine import BEGIN, ROOT
from nbddp.run.folder.folder import RunFolder
from nbddp.run.log.hearing import Hearing
from nbddp.run.processes.process import ProcessId
from nbddp.run.start.cold import start_main
from nbddp.run.supervision.leader import take
from nbddp.run.supervision.supervise import Supervisor


def main(path: str) -> None:
    folder = RunFolder(Path(path))
    number = str(folder.read_job().get("number", ""))
    take(folder, lambda me: _supervise(folder, me), lambda: None, attempt=0, job=number, host=os.uname().nodename)


def _supervise(folder: RunFolder, me: ProcessId) -> None:
    how = folder.read_command()
    words = (sys.executable, "-c", BEGIN.format("machines") + "main()", str(ROOT), str(folder.path), *how["argv"])
    supervisor = Supervisor(folder, me, quiet=how["quiet"], grace=how["grace"], job=InJob())
    supervisor.run(lambda private: start_main(folder, words, private))
    os._exit(min(abs(supervisor.statuses.get(supervisor.main, 1)), 255))


class InJob:
    """Ray gives no notice, and starts nothing again; what it has started goes with whoever has asked for it."""

    def end_ranks(self) -> None:
        pass

    def notice(self) -> None:
        pass

    def is_late(self) -> bool:
        return False

    def why_again(self, status: int | None, hearing: Hearing) -> str:  # noqa: ARG002
        return ""

    def start_again(self) -> bool:
        return False

    def end(self, *, paused: bool) -> dict[str, object]:  # noqa: ARG002
        return {}
