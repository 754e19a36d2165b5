"""What one kernel keeps for its trainings: the cells that it has executed, and the helper of its warm starts."""

from __future__ import annotations

import atexit
from typing import Any

from nbddp.magics.executed.early_interrupts import EarlyInterrupts
from nbddp.magics.executed.record import Record
from nbddp.run.folder.errors import NotWarm
from nbddp.run.start.launch import Helper
from nbddp.run.start.machine_facts import torch_version
from nbddp.run.start.packages import packages_of
from nbddp.run.start.warm import WarmHelper


class Session:
    """From `%load_ext` to the end of the kernel, or to `%unload_ext`."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.early = EarlyInterrupts()
        self.record = Record(shell)
        self.helper: Helper = None

    @property
    def namespace(self) -> dict[str, Any]:
        """The variables of the notebook."""
        names: dict[str, Any] = self.shell.user_ns
        return names

    def open(self) -> None:
        """Start to listen, and the helper, which takes its seconds by itself."""
        self.shell.events.register("pre_run_cell", self.early.begins)
        self.shell.events.register("post_run_cell", self.early.ended)
        self.shell.events.register("pre_run_cell", self.record.begins)
        self.shell.events.register("post_run_cell", self._ended)
        try:
            self.helper = WarmHelper.start()
        except (NotWarm, OSError) as reason:
            self.helper = reason if isinstance(reason, NotWarm) else NotWarm(f"No helper process: {reason}.")
        torch_version()  # from the packages' files, once: now nobody waits for it
        atexit.register(self._end_helper)

    def close(self) -> None:
        """As it was before."""
        self.shell.events.unregister("pre_run_cell", self.early.begins)
        self.shell.events.unregister("post_run_cell", self.early.ended)
        self.shell.events.unregister("pre_run_cell", self.record.begins)
        self.shell.events.unregister("post_run_cell", self._ended)
        atexit.unregister(self._end_helper)
        self._end_helper()

    def _ended(self, result: Any) -> None:
        executed = self.record.ended(result)
        if executed is not None and isinstance(self.helper, WarmHelper):
            names = [name for name in packages_of(executed.source) if name not in self.helper.preload]
            if names:
                self.helper.load(names)

    def _end_helper(self) -> None:
        if isinstance(self.helper, WarmHelper):
            self.helper.close()
