"""The cells that a kernel has executed: of each the latest execution, in order of execution."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from nbddp.magics.executed.cell_failures import what_ran
from nbddp.notebook.marks import tag_words

TRAIN = r"%%?(?:ddp|dp|single)_train"
QUESTION = re.compile(rf"\??%ddp\b|\?{TRAIN}\b|{TRAIN}(?:\?|\b(?:(?! -- ).)* (?:--help|-h)\b)")


@dataclass(frozen=True)
class Executed:
    """One execution. `id` is the cell's own where the front end sends it; without it a cell is known by its source."""

    source: str
    tags: tuple[str, ...] = ()
    id: str | None = None
    count: int = 0  # as in its prompt
    first: int = 0  # its place among all executions, when the cell was executed for the first time

    @property
    def key(self) -> str:
        """Which executions are of one cell."""
        return f"id {self.id}" if self.id else f"source {self.source}"


class Record:
    """Fed by the shell's own events."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cells = {cell.key: cell for cell in before(shell)}
        self._executions = int(shell.execution_count)
        self.running: Executed | None = None

    @property
    def cells(self) -> tuple[Executed, ...]:
        """All but the one that runs."""
        running = self.running.key if self.running else None
        return tuple(cell for key, cell in self._cells.items() if key != running and _counts(cell.source))

    def begins(self, info: Any) -> None:
        """A cell is about to run. What front ends execute on their own account is silent."""
        self.running = None if info.silent else self._executed(info)

    def _executed(self, info: Any) -> Executed:
        metadata = self._metadata()
        identity = getattr(info, "cell_id", None) or metadata.get("cellId")
        tags = tag_words(metadata.get("tags"))
        count = int(self._shell.execution_count)
        made = Executed(info.raw_cell, tags, identity if isinstance(identity, str) else None, count)
        known = self._cells.get(made.key) or self._cells.get(f"source {made.source}")
        if known is None:
            self._executions += 1
        return replace(made, first=known.first if known else self._executions)

    def ended(self, result: Any) -> Executed | None:
        """It has run. Of a cell that failed, the statements before the one that did count: they had their effect."""
        if result.info is None or result.info.silent or result.error_before_exec is not None:
            self.running = None
            return None
        executed = self.running or self._executed(result.info)  # the cell of %load_ext had begun before this listened
        self.running = None
        key = executed.key
        for known in (key, f"source {executed.source}"):
            self._cells.pop(known, None)
        if result.error_in_exec is not None:
            executed = replace(executed, source=what_ran(executed.source, result.error_in_exec, self._shell.user_ns))
        self._cells[key] = executed
        return executed

    def _metadata(self) -> dict[str, Any]:
        """Of the request that is being executed; a terminal's IPython knows none."""
        parent = self._shell.get_parent() if hasattr(self._shell, "get_parent") else {}
        metadata = (parent or {}).get("metadata")
        return metadata if isinstance(metadata, dict) else {}


def _counts(source: str) -> bool:
    """A question to nbddp is no part of the notebook, and stands in no file of it."""
    return bool(source.strip()) and not QUESTION.match(source.lstrip())


def before(shell: Any) -> list[Executed]:
    """The cells of this kernel's history, as far as it is known that they did not fail. Ids and tags it has none."""
    history = getattr(shell, "history_manager", None)
    if history is None:
        return []
    failed = getattr(history, "exceptions", {})
    sources = list(history.input_hist_raw)[1 : int(shell.execution_count)]
    return [Executed(source, count=n, first=n) for n, source in enumerate(sources, start=1) if n not in failed]
